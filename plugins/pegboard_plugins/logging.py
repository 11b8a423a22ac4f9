"""Logs every request when `[host] log_level` is info or lower: method, name, client, how it ended and how long it took.

Arguments and results are never logged.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from time import perf_counter

from pegboard import Call, CallNext, Failure, MCPError, Middleware, Outcome, Plugin, ToolkitError, hookimpl

LONGEST = 200
"""How many characters of a name that a client chose are logged."""

logger = logging.getLogger("pegboard.calls")


class LoggingPlugin(Plugin):
    """Middleware around every request."""

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """One, around every request."""
        return [Logging()]


class Logging(Middleware):
    """Logs how each request ended."""

    def wants(self, call: Call) -> bool:
        """Whether anybody will read it."""
        return logger.isEnabledFor(logging.INFO)

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Pass the call on, and log how it ended."""
        started = perf_counter()
        ended = "cancelled"
        try:
            outcome = await call_next(call)
            ended = _kind(outcome.error) if isinstance(outcome, Failure) else "ok"
            return outcome
        except Exception as error:
            ended = _kind(error)
            raise
        finally:
            what = _shown(call.params.get("name") or call.params.get("uri"))
            client = _shown(call.client.name) or "unknown client"
            milliseconds = (perf_counter() - started) * 1000
            logger.info("%s%s for %s: %s in %.1f ms", call.method, what and f" {what}", client, ended, milliseconds)


def _kind(error: Exception | MCPError) -> str:
    return error.kind.value if isinstance(error, ToolkitError) else type(error).__name__


def _shown(text: object) -> str:
    """What a client chose, on one line and not at any length; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return text if text.isprintable() else ascii(text)
