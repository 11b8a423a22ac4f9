"""Results of tools in MCP's own form as records, for consumers that know only the host's types."""

from __future__ import annotations

from typing import Any

from pegboard.content.rules import ContentError, of_object
from pegboard.types.calls import RawResult, ToolResult
from pegboard.types.content import Content, TextContent
from pegboard.wire.codec import encode


def as_tool_result(result: RawResult) -> ToolResult:
    """Return the raw result of a tool as a `ToolResult`. Blocks that the host cannot read become JSON as text.

    Without structured content, the value is the text, if all blocks are text.
    """
    value = result.value
    content, meta = value.get("content"), value.get("_meta")
    blocks = tuple(map(_block, content if isinstance(content, list) else []))
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    return ToolResult(
        value=value.get("structuredContent", "\n".join(texts) if len(texts) == len(blocks) else None),
        structured="structuredContent" in value,
        content=blocks,
        is_error=result.is_error,
        meta=meta if isinstance(meta, dict) else None,
    )


def _block(block: Any) -> Content:
    try:
        if isinstance(block, dict):
            return of_object(block)
    except (ContentError, TypeError):
        pass
    return TextContent(encode(block).decode())
