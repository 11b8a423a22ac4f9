"""The contract of error adapters: each rule is broken by somebody, and by nobody who is sound."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import FatalToolError, RetryableToolError
from pegboard.plugin import ErrorAdapter, ToolRuntimeError
from pegboard.testing import ErrorAdapterContract

CANARY = ErrorAdapterContract.canary


class LibraryError(Exception):
    """Of some library."""

    def __init__(self, url: str) -> None:
        super().__init__(f"failed at {url}")
        self.url = url


class Sound:
    """Knows the errors of the library."""

    slug: Any = "library"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if not isinstance(error, LibraryError):
            return None
        return RetryableToolError("The library failed.", str(error), extra={"service": self.slug})


class NoSlug(Sound):
    slug = "My Library!"


class AnotherClass(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return FatalToolError("x") if isinstance(error, LibraryError) else None


class NoMessage(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return RetryableToolError("") if isinstance(error, LibraryError) else None


class KnowsAll(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return RetryableToolError("x")


class LooksAtAll(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return RetryableToolError("x") if getattr(error, "url", None) else None


class Unsendable(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return RetryableToolError("x", extra={"error": {1, 2}}) if isinstance(error, LibraryError) else None


class HalfSeconds(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        made = super().from_exception(error)
        if made is not None:
            made.retry_after_ms = 0.5  # type: ignore[assignment]
        return made


class ShowsAll(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return RetryableToolError(str(error)) if isinstance(error, LibraryError) else None


class ShowsExtra(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return RetryableToolError("x", extra={"url": error.url}) if isinstance(error, LibraryError) else None


class Counts(Sound):
    count = 0

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        Counts.count += 1
        return RetryableToolError(f"{Counts.count} times") if isinstance(error, LibraryError) else None


class Marks(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if isinstance(error, LibraryError):
            error.seen = True  # type: ignore[attr-defined]
        return super().from_exception(error)


class Imports(Sound):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        importlib.import_module("wave")
        return super().from_exception(error)


FAULTS: dict[type[Sound], str] = {
    NoSlug: "test_it_has_a_slug",
    AnotherClass: "test_it_knows_its_own",
    NoMessage: "test_it_knows_its_own",
    KnowsAll: "test_strangers_are_not_its_own",
    LooksAtAll: "test_strangers_are_not_its_own",
    Unsendable: "test_what_it_makes_can_be_sent",
    HalfSeconds: "test_what_it_makes_can_be_sent",
    ShowsAll: "test_nothing_of_the_service_is_shown",
    ShowsExtra: "test_nothing_of_the_service_is_shown",
    Counts: "test_the_same_exception_becomes_the_same_error",
    Marks: "test_the_same_exception_becomes_the_same_error",
    Imports: "test_it_imports_no_library_by_itself",
}


def contract_of(kind: type[Sound]) -> type[ErrorAdapterContract]:
    class Faulty(ErrorAdapterContract):
        libraries = ("wave",)

        def make(self) -> ErrorAdapter:
            return kind()

        def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
            yield LibraryError(f"https://x.example/?token={CANARY}"), RetryableToolError

    return Faulty


@pytest.mark.parametrize(("kind", "rule"), FAULTS.items())
def test_each_rule_is_broken_by_somebody(kind: type[Sound], rule: str) -> None:
    assert list(contract_of(kind).broken()) == [rule]


def test_who_is_sound_breaks_none() -> None:
    assert contract_of(Sound).broken() == {}


def test_no_rule_is_left_out() -> None:
    assert set(FAULTS.values()) == set(ErrorAdapterContract.rules())
