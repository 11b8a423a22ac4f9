"""Exceptions of event loop callbacks that belong to a call. Such an exception fails only that call."""

from __future__ import annotations

import asyncio
from contextvars import Context as Variables

from pegboard.context import Context, _current


def fail_call(error: BaseException) -> str | None:
    """Fail the call whose callback raised an exception. Return the name of the call, or None if the call is unknown.

    Exceptions of tasks are not handled here: the code that awaits a task receives its exception.
    """
    handle = _handle_of(error)
    variables: Variables | None = getattr(handle, "_context", None)
    context: Context | None = None if variables is None else variables.get(_current)
    if context is None:
        return None
    is_step = isinstance(getattr(getattr(handle, "_callback", None), "__self__", None), asyncio.Future)
    if not is_step and context.clock is not None:
        context.clock.fail(error)
    return context.name


def _handle_of(error: BaseException) -> asyncio.Handle | None:
    """Return the event loop's handle of the callback, or None under uvloop."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is asyncio.Handle._run.__code__:
            handle: asyncio.Handle = trace.tb_frame.f_locals["self"]
            return handle
        trace = trace.tb_next
    return None
