"""Says which results are large, before they fill a model's context. It refuses none: `[host] max_result_bytes` does."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from pydantic import Field

from pegboard import EmbeddedResource, PluginConfig, PromptResult, ResourceResult, ToolResult
from pegboard.plugin import Middleware, Plugin, encode, hookimpl
from pegboard.types import Call, CallNext, Outcome

_MAX_NAME_CHARACTERS = 200
"""How many characters of a name are logged."""

logger = logging.getLogger("pegboard.response_size")


class ResponseSizeConfig(PluginConfig):
    """`[plugins.response_size]`.

    Attributes:
        warn_bytes: results of tools, resources and prompts with more are logged as warnings.
    """

    warn_bytes: int = Field(256 * 1024, ge=1)


class ResponseSizePlugin(Plugin):
    """One middleware."""

    Config = ResponseSizeConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Around tools, resources and prompts."""
        return [ResponseSize(self.config.warn_bytes)]


class ResponseSize(Middleware):
    """Logs results that are large.

    Args:
        warn_bytes: how large they may be.
    """

    def __init__(self, warn_bytes: int) -> None:
        self._warn_bytes = warn_bytes

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Measure what a tool gave."""
        return self._measured(call, "name", await call_next(call))

    async def on_read_resource(self, call: Call, call_next: CallNext) -> Outcome:
        """Measure what a resource holds."""
        return self._measured(call, "uri", await call_next(call))

    async def on_get_prompt(self, call: Call, call_next: CallNext) -> Outcome:
        """Measure what a prompt gave."""
        return self._measured(call, "name", await call_next(call))

    def _measured(self, call: Call, key: str, outcome: Outcome) -> Outcome:
        size = size_of(outcome)
        if size > self._warn_bytes:
            name = ascii(call.params.get(key))[:_MAX_NAME_CHARACTERS]
            logger.warning("the result of %s %s is large: %d bytes", call.method, name, size)
        return outcome


def size_of(outcome: Outcome) -> int:
    """The bytes of what a result holds: text in UTF-8, values as JSON, anything binary in base64."""
    if isinstance(outcome, ToolResult):
        return _of(outcome.value) if outcome.content is None else sum(map(_of_block, outcome.content))
    if isinstance(outcome, ResourceResult):
        return sum(_of(part.content) for part in outcome.contents)
    if isinstance(outcome, PromptResult):
        return sum(_of_block(message.content) for message in outcome.messages)
    return 0


def _of_block(block: Any) -> int:
    if isinstance(block, EmbeddedResource):
        return _of(block.resource.content)
    for member in ("text", "data", "uri"):
        if (held := getattr(block, member, None)) is not None:
            return _of(held)
    return _of(block)


def _of(value: Any) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes | bytearray):
        return (len(value) + 2) // 3 * 4
    return 0 if value is None else len(encode(value))
