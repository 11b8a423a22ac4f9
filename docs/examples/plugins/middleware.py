"""Middleware that adds a line to each tool result."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import PluginConfig
from pegboard.plugin import Middleware, Plugin, hookimpl, with_text
from pegboard.types import Call, CallNext, Outcome


class SignatureConfig(PluginConfig):
    """The settings in `[plugins.signature]`."""

    text: str = "Served by pegboard."


class Signature(Middleware):
    """Runs around each tool call."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Add the line after the content of the result, also if another server returned it."""
        return with_text(await call_next(call), self._text)


class SignaturePlugin(Plugin[SignatureConfig]):
    """Enabled by `[plugins.signature]`."""

    Config = SignatureConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware."""
        return [Signature(self.config.text)]
