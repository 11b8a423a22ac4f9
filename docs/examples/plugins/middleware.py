"""Middleware that adds a line to each tool result."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.plugin import Middleware, Plugin, hookimpl, with_text
from pegboard.types import Call, CallNext, Outcome


class Signature(Middleware):
    """Runs around each tool call."""

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Add the line after the content of the result, also if another server returned it."""
        return with_text(await call_next(call), "Served by pegboard.")


class SignaturePlugin(Plugin):
    """Enabled by `[plugins.signature]`."""

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware."""
        return [Signature()]
