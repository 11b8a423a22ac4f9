"""Exceptions in Python's format, with very long tracebacks shortened.

Formatting takes time for every frame, cause and member of a group. For an endless recursion, it would take seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import islice
from traceback import format_exception, format_tb, walk_tb
from types import TracebackType

MAX_FRAMES = 1200
"""The limit of frames of all exceptions up to which tracebacks are not shortened. It exceeds the default recursion
limit."""
MAX_EXCEPTIONS = 40
"""The limit of causes, contexts and members of groups up to which they are not shortened."""
SHOWN_FRAMES = 40
"""The number of frames shown of a long traceback: those nearest to the error."""
SHOWN_EXCEPTIONS = 10
"""The number of exceptions shown for a long chain or a large group."""


class ShortFormatter(logging.Formatter):
    """A log formatter that shortens very long tracebacks."""

    def formatException(self, ei: tuple[object, BaseException | None, object]) -> str:  # noqa: N802 - as logging has it
        return "" if ei[1] is None else traceback_text(ei[1], ei[2]).rstrip("\n")  # type: ignore[arg-type]  # a traceback


def traceback_text(error: BaseException, trace: TracebackType | None = None) -> str:
    """Return an exception with its traceback, its causes and its members as a string.

    Args:
        error: the exception.
        trace: the traceback to show instead of the exception's own traceback.
    """
    if _is_small(error):
        return "".join(format_exception(type(error), error, trace or error.__traceback__))
    return "".join(_short(error))


def linked_exceptions(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, its causes and contexts, and the members of groups. Each is yielded once."""
    seen = {id(error)}
    waiting = [error]
    while waiting:
        exception = waiting.pop()
        yield exception
        members = exception.exceptions[: MAX_EXCEPTIONS + 1] if isinstance(exception, BaseExceptionGroup) else ()
        for other in (exception.__cause__, exception.__context__, *members):
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)


def _is_small(error: BaseException) -> bool:
    linked = list(islice(linked_exceptions(error), MAX_EXCEPTIONS + 1))
    frames = sum(1 for exception in linked for _ in islice(walk_tb(exception.__traceback__), MAX_FRAMES + 1))
    return frames <= MAX_FRAMES and len(linked) <= MAX_EXCEPTIONS


def _short(error: BaseException) -> Iterator[str]:
    """Yield the last exceptions of a chain, oldest first."""
    chain = list(islice(_chain(error), SHOWN_EXCEPTIONS + 1))
    if len(chain) > SHOWN_EXCEPTIONS:
        chain.pop()
        yield "... earlier exceptions are left out\n\n"
    for exception in reversed(chain):
        yield "Traceback (most recent call last):\n"
        if (hidden := sum(1 for _ in walk_tb(exception.__traceback__)) - SHOWN_FRAMES) > 0:
            yield f"  ... {hidden} earlier frames are left out\n"
        yield from format_tb(exception.__traceback__, limit=-SHOWN_FRAMES)
        yield f"{_described(exception)}\n"
        if isinstance(exception, BaseExceptionGroup):
            yield from (f"  | {_described(member)}\n" for member in exception.exceptions[:SHOWN_EXCEPTIONS])
            if len(exception.exceptions) > SHOWN_EXCEPTIONS:
                yield f"  | ... and {len(exception.exceptions) - SHOWN_EXCEPTIONS} more\n"
        if exception is not error:
            yield "\nIt led to this exception:\n\n"


def _chain(error: BaseException) -> Iterator[BaseException]:
    exception: BaseException | None = error
    while exception is not None:
        yield exception
        exception = exception.__cause__ or (None if exception.__suppress_context__ else exception.__context__)


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - the author's own __str__
        return type(error).__name__
