"""Two pieces of middleware whose order shows: one makes text loud, one takes words out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pegboard import PluginConfig, ToolResult
from pegboard.plugin import Middleware, Plugin, around, hookimpl
from pegboard.types import Call, CallNext, Outcome


def polished(change: Callable[[str], str]) -> Middleware:
    """Middleware that changes the text of every tool."""

    @around("tools/call")
    async def polish(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        if isinstance(outcome, ToolResult) and isinstance(outcome.value, str):
            return ToolResult(change(outcome.value), outcome.structured)
        return outcome

    return polish


class ShoutPlugin(Plugin):
    """Makes it loud."""

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [polished(str.upper)]


class RedactConfig(PluginConfig):
    """`[plugins.redact]`."""

    words: tuple[str, ...] = ()


class RedactPlugin(Plugin):
    """Takes words out."""

    Config = RedactConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        def without_words(text: str) -> str:
            for word in self.config.words:
                text = text.replace(word, "[redacted]")
            return text

        return [polished(without_words)]
