"""What every error adapter must do (`pegboard.ErrorAdapter`)."""

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
from pegboard.testing.contracts.contract import Contract


class Hostile(Exception):
    """An exception that nobody can look at: whatever is read of it raises."""

    def __str__(self) -> NoReturn:
        raise RuntimeError("it cannot be read")

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(f"{name} cannot be read")


class Misleading(Exception):
    """An exception that has what those of HTTP clients have, and in it nothing of use."""

    response = status = status_code = code = headers = request = errors = error = body = object()


UNKNOWN_EXCEPTIONS: tuple[Exception, ...] = (
    Exception("x"), ValueError("x"), KeyError("x"), ZeroDivisionError(), RuntimeError(404), AssertionError({}),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), ExceptionGroup("x", [ValueError("y")]), Hostile(), Misleading(),
)  # fmt: skip
"""Exceptions of no library."""


class ErrorAdapterContract(Contract[ErrorAdapter]):
    """The rules of a `pegboard.ErrorAdapter`.

    Attributes:
        canary: what stands in the examples where a stranger must not see it: the query of a URL, a header, a body.
        libraries: modules that the adapter knows the exceptions of, and must not import by itself.
    """

    canary: ClassVar[str] = "canary-51c7"
    libraries: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def make(self) -> ErrorAdapter:
        """The adapter."""

    @abstractmethod
    def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
        """Exceptions that it knows, and the classes of the errors that it makes of them.

        Take them from the library itself, raised by real calls, with the `canary` wherever a secret may stand.
        """

    def test_it_has_a_slug(self) -> None:
        """A short name, for logs and for the `service` of an error's `extra`."""
        slug = self.make().slug
        assert isinstance(slug, str), f"its slug is {slug!r}"
        assert re.fullmatch(r"[a-z0-9_-]{1,40}", slug), f"its slug is {slug!r}; write a-z, 0-9, _ and -"

    def test_it_knows_its_own(self) -> None:
        """Each example becomes an error of its class, with a message for whoever called the tool."""
        for error, expected in self.examples():
            adapted = self._adapted(error)
            assert type(adapted) is expected, f"{error!r} is to become {expected.__name__}, and became {adapted!r}"
            assert adapted.message.strip(), f"what became of {error!r} has no message"

    def test_strangers_are_not_its_own(self) -> None:
        """It is asked about every exception that nobody meant: what it does not know is None."""
        adapter = self.make()
        for error in UNKNOWN_EXCEPTIONS:
            adapted = adapter.from_exception(error)
            assert adapted is None, f"it took {type(error).__name__} for its own, and made {type(adapted).__name__}"

    def test_what_it_makes_can_be_sent(self) -> None:
        """Kinds, statuses and times are what programs read; extra values are JSON."""
        for error, _ in self.examples():
            adapted = self._adapted(error)
            assert adapted is not None, f"{error!r} became nothing"
            assert isinstance(adapted.kind, ErrorKind), f"the kind of {error!r} is {adapted.kind!r}"
            assert isinstance(adapted.can_retry, bool), f"whether {error!r} can be tried again is {adapted.can_retry!r}"
            for name in ("status_code", "retry_after_ms"):
                value = getattr(adapted, name)
                fits = value is None or (type(value) is int and value >= 0)
                assert fits, f"the {name} of {error!r} is {value!r}, no whole number"
            json.dumps(adapted.to_payload(), allow_nan=False)

    def test_nothing_of_the_service_is_shown(self) -> None:
        """No query of a URL, no header and no body reaches who called the tool; the log may have them."""
        for error, _ in self.examples():
            adapted = self._adapted(error)
            assert adapted is not None, f"{error!r} became nothing"
            payload = adapted.to_payload()
            payload.pop("developer_message", None)
            shown = [name for name, value in payload.items() if self.canary in json.dumps(value, default=str)]
            assert not shown, f"of {type(error).__name__} the caller sees the canary in: {', '.join(shown)}"
            assert self.canary not in str(adapted), f"of {type(error).__name__} the caller sees the canary"

    def test_the_same_exception_becomes_the_same_error(self) -> None:
        """It keeps nothing, and leaves the exception as it is: others are asked about it, and the log tells it."""
        for error, _ in self.examples():
            before = (error.args, dict(vars(error)), error.__cause__, error.__context__)
            first, second = self._adapted(error), self._adapted(error)
            assert first is not None, f"{error!r} became nothing"
            assert second is not None, f"{error!r} became nothing the second time"
            assert first.to_payload() == second.to_payload(), f"{error!r} became two different errors"
            after = (error.args, dict(vars(error)), error.__cause__, error.__context__)
            assert _same(before, after), f"{type(error).__name__} was changed"

    def test_it_imports_no_library_by_itself(self) -> None:
        """An exception of a library that is not imported cannot be; nobody pays for one that is not used."""
        if not self.libraries:
            raise SkipTest("`libraries` names none")
        adapter = self.make()
        script = (
            "import importlib, sys\n"
            f"sys.path[:] = {sys.path!r}\n"
            f"made = vars(importlib.import_module({type(adapter).__module__!r}))[{type(adapter).__qualname__!r}]()\n"
            "made.from_exception(ValueError('x'))\n"
            f"sys.stdout.write(' '.join(name for name in {self.libraries!r} if name in sys.modules))\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, f"made without arguments, in a process of its own, it failed:\n{done.stderr}"
        assert not done.stdout, f"it imported: {done.stdout}"

    def _adapted(self, error: Exception) -> ToolRuntimeError | None:
        return self.make().from_exception(error)


def _same(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    """Whether an exception is what it was; of what it holds the objects are compared, not their values."""
    (args, members, *links), (new_args, new_members, *new_links) = before, after
    kept = members.keys() == new_members.keys() and all(members[name] is new_members[name] for name in members)
    return args is new_args and kept and all(one is other for one, other in zip(links, new_links, strict=True))
