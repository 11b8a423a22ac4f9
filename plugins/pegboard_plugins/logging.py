"""Logs every call when `[host] log_level` is info or lower: method, name, client, how it ended and how long it took.

Arguments and results are never logged.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from time import perf_counter

from pegboard import Call, CallNext, Failure, Middleware, Outcome, Plugin, ToolkitError, hookimpl

logger = logging.getLogger("pegboard.calls")


class LoggingPlugin(Plugin):
    """Middleware around every call."""

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """One, around every method."""
        return [Middleware(log_call)]


async def log_call(call: Call, call_next: CallNext) -> Outcome:
    """Pass the call on, and log how it ended."""
    if not logger.isEnabledFor(logging.INFO):
        return await call_next(call)
    started = perf_counter()
    ended = "cancelled"
    try:
        outcome = await call_next(call)
        ended = type(outcome.error).__name__ if isinstance(outcome, Failure) else "ok"
        return outcome
    except Exception as error:
        ended = error.kind.value if isinstance(error, ToolkitError) else type(error).__name__
        raise
    finally:
        what = call.params.get("name") or call.params.get("uri") or ""
        client = call.client.name or "unknown client"
        logger.info("%s %s for %s: %s in %.1f ms", call.method, what, client, ended, (perf_counter() - started) * 1000)
