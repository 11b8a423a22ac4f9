"""A failed call in the log: the name that it asks for, and the traceback through the code of authors."""

from __future__ import annotations

import logging
from itertools import islice
from types import TracebackType
from typing import TypeAlias

from pegboard.errors.tracebacks import linked_exceptions
from pegboard.types.calls import Call

logger = logging.getLogger("pegboard")

MAX_LOGGED_NAME_CHARACTERS = 200
"""The number of characters of a requested tool name that are logged."""

MAX_TRIMMED_EXCEPTIONS = 40
"""The number of causes, contexts and members of groups whose tracebacks are trimmed."""

_OF_HOST = ("pegboard.", "pegboard_client.", "pegboard_plugins.compat.", "pegboard_testing.")
"""The beginnings of the names of modules whose frames are not part of an author's code."""

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None]


def name_of(call: Call) -> str:
    """Return the name or URI that a call asks for, shortened for the log. Return "" if it asks for none."""
    name = str(call.params.get("name") or call.params.get("uri") or "")
    return name if len(name) <= MAX_LOGGED_NAME_CHARACTERS else f"{name[:MAX_LOGGED_NAME_CHARACTERS]}..."


def told_traceback(error: BaseException, *, is_expected: bool = False) -> ExcInfo | None:
    """Return an exception for the log. Its tracebacks have only the authors' code, unless the level is debug.

    Args:
        error: the exception. Its tracebacks are replaced.
        is_expected: True to return None for an exception without frames of authors, such as a refused result.
    """
    is_of_author = False
    if not logger.isEnabledFor(logging.DEBUG):
        for exception in islice(linked_exceptions(error), MAX_TRIMMED_EXCEPTIONS):
            if (way := _in_authors_code(exception.__traceback__)) is not None:
                exception.__traceback__ = way
                is_of_author = True
        if is_expected and not is_of_author:
            return None
    return type(error), error, error.__traceback__


def _in_authors_code(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of the host, or None if it has no others."""
    places: list[TracebackType] = []
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        if module.startswith("pegboard.calls."):
            places.clear()  # frames of middleware are not part of the author's code
        elif not module.startswith(_OF_HOST):
            places.append(trace)
        trace = trace.tb_next
    way: TracebackType | None = None
    for place in reversed(places):
        way = TracebackType(way, place.tb_frame, place.tb_lasti, place.tb_lineno)
    return way
