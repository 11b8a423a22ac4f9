"""Warnings about results that fill much of a model's context. `[host] max_result_bytes` rejects larger results."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from pydantic import Field

from pegboard import EmbeddedResource, PluginConfig, PromptResult, ResourceResult, ToolResult
from pegboard.plugin import Middleware, Plugin, encode, hookimpl
from pegboard.types import Call, CallNext, Outcome, RawResult

_MAX_NAME_CHARACTERS = 200
"""The logged length of a name."""

logger = logging.getLogger("pegboard.response_size")


class ResponseSizeConfig(PluginConfig):
    """`[plugins.response_size]`.

    Attributes:
        warn_bytes: the size above which results of tools, resources and prompts are logged as warnings.
    """

    warn_bytes: int = Field(256 * 1024, ge=1)


class ResponseSizePlugin(Plugin):
    """The middleware that measures results."""

    Config = ResponseSizeConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [ResponseSize(self.config.warn_bytes)]


class ResponseSize(Middleware):
    """Middleware that logs large results.

    Args:
        warn_bytes: the largest size that is not logged.
    """

    def __init__(self, warn_bytes: int) -> None:
        self._warn_bytes = warn_bytes

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        size = size_of(outcome)
        if size > self._warn_bytes:
            name = ascii(call.params.get("uri" if call.method == "resources/read" else "name"))
            logger.warning("the result of %s %s is large: %d bytes", call.method, name[:_MAX_NAME_CHARACTERS], size)
        return outcome

    on_read_resource = on_call_tool
    on_get_prompt = on_call_tool


def size_of(outcome: Outcome) -> int:
    """Return the bytes of a result: strings in UTF-8, values as JSON, binary data in base64."""
    if isinstance(outcome, ToolResult):
        return _value_size(outcome.value) if outcome.content is None else sum(map(_block_size, outcome.content))
    if isinstance(outcome, RawResult):
        return _value_size(outcome.value)
    if isinstance(outcome, ResourceResult):
        return sum(_value_size(part.content) for part in outcome.contents)
    if isinstance(outcome, PromptResult):
        return sum(_block_size(message.content) for message in outcome.messages)
    return 0


def _block_size(block: Any) -> int:
    if isinstance(block, EmbeddedResource):
        return _value_size(block.resource.content)
    for member in ("text", "data", "uri"):
        if (held := getattr(block, member, None)) is not None:
            return _value_size(held)
    return _value_size(block)


def _value_size(value: Any) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes | bytearray):
        return (len(value) + 2) // 3 * 4
    return 0 if value is None else len(encode(value))
