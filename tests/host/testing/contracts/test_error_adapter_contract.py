"""The contract of error adapters: a faulty adapter breaks each rule, and a sound one none."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import FatalToolError, RetryableToolError
from pegboard.plugin import ErrorAdapter, ToolRuntimeError
from pegboard.testing import ErrorAdapterContract
from tests.host.testing.contracts.faulty import cases, rules


class LibraryError(Exception):
    """Of a library."""

    def __init__(self, url: str) -> None:
        super().__init__(f"failed at {url}")
        self.url = url


def adapted(error: Any) -> Any:
    if not isinstance(error, LibraryError):
        return None
    return RetryableToolError("The library failed.", str(error), extra={"service": "library"})


def half_seconds(error: Any) -> Any:
    made = adapted(error)
    made.retry_after_ms = 0.5
    return made


def marks(error: Any) -> Any:
    error.seen = True
    return adapted(error)


class Adapter:
    """The adapter that the contract makes in another process, too."""

    slug: Any = "library"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return adapted(error)  # type: ignore[no-any-return]


class Importing(Adapter):
    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        importlib.import_module("wave")
        return super().from_exception(error)


def adapter(**members: Any) -> Any:
    """Return a function that makes an adapter with other members."""

    def make() -> Adapter:
        made = Adapter()
        vars(made).update(members)
        return made

    return make


def maps(function: Any) -> Any:
    return adapter(from_exception=function)


def of_library(make: Any) -> Any:
    return maps(lambda error: make(error) if isinstance(error, LibraryError) else None)


NUMBERS = itertools.count()
FAULTS: list[tuple[Any, str]] = [
    (adapter(slug="My Library!"), "test_it_has_a_slug"),
    (of_library(lambda error: FatalToolError("x")), "test_known_exceptions_become_errors"),
    (of_library(lambda error: RetryableToolError("")), "test_known_exceptions_become_errors"),
    (maps(lambda error: RetryableToolError("x")), "test_unknown_exceptions_are_declined"),
    (
        maps(lambda error: RetryableToolError("x") if hasattr(error, "url") else None),
        "test_unknown_exceptions_are_declined",
    ),
    (of_library(lambda error: RetryableToolError("x", extra={"error": {1, 2}})), "test_errors_are_valid"),
    (of_library(half_seconds), "test_errors_are_valid"),
    (of_library(lambda error: RetryableToolError(str(error))), "test_errors_disclose_no_secrets"),
    (of_library(lambda error: RetryableToolError("x", extra={"url": error.url})), "test_errors_disclose_no_secrets"),
    (of_library(lambda error: RetryableToolError(f"{next(NUMBERS)} times")), "test_it_has_no_state"),
    (of_library(marks), "test_it_has_no_state"),
    (Importing, "test_it_imports_no_library"),
]


def broken(kind: Any) -> dict[str, BaseException]:
    class Checked(ErrorAdapterContract):
        libraries = ("wave",)

        def make(self) -> ErrorAdapter:
            return kind()  # type: ignore[no-any-return]

        def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
            yield LibraryError(f"https://x.example/?token={self.canary}"), RetryableToolError

    return Checked.broken()


@pytest.mark.parametrize(("kind", "rule"), cases(FAULTS))
def test_a_faulty_adapter_breaks_the_rule(kind: Any, rule: str) -> None:
    assert list(broken(kind)) == [rule]


def test_a_sound_adapter_breaks_no_rule() -> None:
    assert broken(Adapter) == {}
    assert rules(FAULTS) == set(ErrorAdapterContract.rules())
