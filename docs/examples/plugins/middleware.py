"""Middleware that adds the name of the host to the `_meta` of each tool result."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import ToolResult
from pegboard.plugin import Middleware, Plugin, hookimpl
from pegboard.types import Call, CallNext, Outcome


class Signature(Middleware):
    """Runs around each tool call."""

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Add an entry to the `_meta` of the result."""
        outcome = await call_next(call)
        if isinstance(outcome, ToolResult):
            outcome = outcome._replace(meta={**(outcome.meta or {}), "com.example/served-by": "pegboard"})
        return outcome


class SignaturePlugin(Plugin):
    """Enabled by `[plugins.signature]`."""

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware."""
        return [Signature()]
