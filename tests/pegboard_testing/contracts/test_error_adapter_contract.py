"""The contract of error adapters."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

from pegboard import FatalToolError, RetryableToolError
from pegboard.plugin import ErrorAdapter
from pegboard_testing import ErrorAdapterContract
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, variant


class LibraryError(Exception):
    """Of a library."""

    def __init__(self, url: str) -> None:
        super().__init__(f"failed at {url}")


class Adapter(ErrorAdapter):
    """The adapter that the contract makes in another process, too."""

    slug: Any = "library"

    def from_exception(self, error: Any) -> Any:
        if not isinstance(error, LibraryError):
            return None
        return RetryableToolError("The library failed.", str(error), extra={"service": "library"})


class Importing(Adapter):
    def from_exception(self, error: Any) -> Any:
        importlib.import_module("wave")
        return super().from_exception(error)


def maps(make: Any) -> Any:
    """Return an adapter that maps errors of the library in another way."""
    return variant(Adapter, from_exception=lambda self, error: make(error) if isinstance(error, LibraryError) else None)


NUMBERS = itertools.count()
FAULTS: Faults = [
    (variant(Adapter, slug="My Library!"), "test_it_has_a_slug"),
    (maps(lambda error: FatalToolError("x")), "test_known_exceptions_become_errors"),
    (variant(Adapter, from_exception=lambda *_: RetryableToolError("x")), "test_unknown_exceptions_are_declined"),
    (maps(lambda error: RetryableToolError("x", extra={"error": {1, 2}})), "test_errors_are_valid"),
    (maps(lambda error: RetryableToolError(str(error))), "test_errors_disclose_no_secrets"),
    (maps(lambda error: RetryableToolError(f"{next(NUMBERS)} times")), "test_it_has_no_state"),
    (Importing, "test_it_imports_no_library"),
]
MEMBERS = {
    "libraries": ("wave",),
    "examples": lambda self: [(LibraryError(f"https://x.example/?token={self.canary}"), RetryableToolError)],
}
MUTANTS = [Mutants(ErrorAdapterContract, Adapter, FAULTS, {"max_rule_seconds": 4.0, **MEMBERS})]
