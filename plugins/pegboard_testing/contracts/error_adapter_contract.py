"""The rules of error adapters (`pegboard.plugin.ErrorAdapter`)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, NoReturn
from unittest import SkipTest

from pegboard.errors import ErrorKind, ToolRuntimeError
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard_testing.contracts.contract import Contract, rule


class Hostile(Exception):
    """An exception whose attributes and text cannot be read."""

    def __str__(self) -> NoReturn:
        raise RuntimeError("it cannot be read")

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(f"{name} cannot be read")


class Misleading(Exception):
    """An exception with the attributes of an HTTP client's exception, but useless values."""

    response = status = status_code = code = headers = request = errors = error = body = object()


UNKNOWN_EXCEPTIONS: tuple[Exception, ...] = (
    Exception("x"), ValueError("x"), KeyError("x"), ZeroDivisionError(), RuntimeError(404), AssertionError({}),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), ExceptionGroup("x", [ValueError("y")]), Hostile(), Misleading(),
)  # fmt: skip
"""Exceptions that belong to no library."""


class ErrorAdapterContract(Contract[ErrorAdapter]):
    """The rules of an error adapter.

    Attributes:
        canary: a string that the examples contain in secret places: the query of a URL, a header, a body.
        libraries: the modules whose exceptions the adapter knows. It must not import them.
    """

    canary: ClassVar[str] = "canary-51c7"
    libraries: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def make(self) -> ErrorAdapter:
        """Return the adapter."""

    @abstractmethod
    def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
        """Return exceptions that the adapter knows, each with the class of the error that the adapter returns.

        Use exceptions that the library itself raised, with the `canary` in each place that may hold a secret.
        """

    @rule
    def test_it_has_a_slug(self, adapter: ErrorAdapter) -> None:
        """Logs and the `service` in an error's `extra` use this short name."""
        slug = adapter.slug
        assert isinstance(slug, str), f"its slug is {slug!r}"
        assert re.fullmatch(r"[a-z0-9_-]{1,40}", slug), f"its slug is {slug!r}; write a-z, 0-9, _ and -"

    @rule
    def test_known_exceptions_become_errors(self, adapter: ErrorAdapter) -> None:
        """Each example becomes an error of its class, with a message for the caller."""
        for error, expected in self.examples():
            adapted = adapter.from_exception(error)
            assert type(adapted) is expected, f"{error!r} became {adapted!r}, expected {expected.__name__}"
            assert adapted.message.strip(), f"the error for {error!r} has no message"

    @rule
    def test_unknown_exceptions_are_declined(self, adapter: ErrorAdapter) -> None:
        """The adapter returns None for unknown exceptions. The host passes it every unexpected exception."""
        for error in UNKNOWN_EXCEPTIONS:
            adapted = adapter.from_exception(error)
            assert adapted is None, f"it returned {type(adapted).__name__} for {type(error).__name__}"

    @rule
    def test_errors_are_valid(self, adapter: ErrorAdapter) -> None:
        """Kinds, statuses and times are valid for programs; extra values are JSON."""
        for error, _ in self.examples():
            adapted = adapter.from_exception(error)
            assert adapted is not None, f"it returned None for {error!r}"
            assert isinstance(adapted.kind, ErrorKind), f"the kind of {error!r} is {adapted.kind!r}"
            assert isinstance(adapted.can_retry, bool), f"can_retry of {error!r} is {adapted.can_retry!r}"
            for name in ("status_code", "retry_after_ms"):
                value = getattr(adapted, name)
                fits = value is None or (type(value) is int and value >= 0)
                assert fits, f"the {name} of {error!r} is {value!r}, not a whole number"
            json.dumps(adapted.to_payload(), allow_nan=False)

    @rule
    def test_errors_disclose_no_secrets(self, adapter: ErrorAdapter) -> None:
        """URL queries, headers and bodies do not reach the caller. The log may contain such data."""
        for error, _ in self.examples():
            adapted = adapter.from_exception(error)
            assert adapted is not None, f"it returned None for {error!r}"
            payload = adapted.to_payload()
            payload.pop("developer_message", None)
            shown = [name for name, value in payload.items() if self.canary in json.dumps(value, default=str)]
            assert not shown, f"the error for {type(error).__name__} shows the canary in: {', '.join(shown)}"
            assert self.canary not in str(adapted), f"the error for {type(error).__name__} shows the canary"

    @rule
    def test_it_has_no_state(self, adapter: ErrorAdapter) -> None:
        """The adapter has no state and does not change the exception, as others and the log use it."""
        for error, _ in self.examples():
            before = (error.args, dict(vars(error)), error.__cause__, error.__context__)
            first, second = adapter.from_exception(error), adapter.from_exception(error)
            assert first is not None, f"it returned None for {error!r}"
            assert second is not None, f"the second call returned None for {error!r}"
            assert first.to_payload() == second.to_payload(), f"{error!r} became two different errors"
            after = (error.args, dict(vars(error)), error.__cause__, error.__context__)
            assert _same(before, after), f"{type(error).__name__} was changed"

    @rule
    def test_it_imports_no_library(self, adapter: ErrorAdapter) -> None:
        """An exception of a library that is not imported cannot occur; imports would delay the start."""
        if not self.libraries:
            raise SkipTest("`libraries` is empty")
        script = (
            "import importlib, sys\n"
            f"sys.path[:] = {sys.path!r}\n"
            f"made = vars(importlib.import_module({type(adapter).__module__!r}))[{type(adapter).__qualname__!r}]()\n"
            "made.from_exception(ValueError('x'))\n"
            f"sys.stdout.write(' '.join(name for name in {self.libraries!r} if name in sys.modules))\n"
        )
        command, limit = [sys.executable, "-c", script], self.max_rule_seconds
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)  # noqa: S603
        assert done.returncode == 0, f"created without arguments in another process, it failed:\n{done.stderr}"
        assert not done.stdout, f"it imported: {done.stdout}"


def _same(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    """Return True if an exception is unchanged. The attributes' values are compared by identity."""
    (args, members, *links), (new_args, new_members, *new_links) = before, after
    kept = members.keys() == new_members.keys() and all(members[name] is new_members[name] for name in members)
    return args is new_args and kept and all(link is other for link, other in zip(links, new_links, strict=True))
