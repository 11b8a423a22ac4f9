"""Results of functions: media, MCP objects and mixed lists as content of pegboard."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from pegboard import ToolResult
from pegboard_plugins.compat.fastmcp.media import Media
from pegboard_plugins.compat.fastmcp.types import Object

_MCP_MODULES = ("mcp.types", "mcp_types")
_BLOCK_TYPES = ("text", "image", "audio", "resource", "resource_link")


def is_mcp_type(cls: Any) -> bool:
    """Return True for a class of MCP objects: from `types`, or from the official SDK."""
    if not isinstance(cls, type) or not issubclass(cls, BaseModel):
        return False
    return issubclass(cls, Object) or cls.__module__.startswith(_MCP_MODULES)


def is_content(value: object) -> bool:
    """Return True for media and for content blocks."""
    if isinstance(value, Media):
        return True
    return is_mcp_type(type(value)) and getattr(value, "type", None) in _BLOCK_TYPES


def as_block(value: Any) -> Any:
    """Return one item of content: a block of pegboard, an MCP object as a dict, or a string."""
    if isinstance(value, Media):
        return value.content()
    if is_mcp_type(type(value)):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value if isinstance(value, str) else to_json(value, fallback=str).decode()


def tool_result(value: Any) -> Any:
    """Return the result of a tool in a form that pegboard serves."""
    if is_content(value):
        return ToolResult(content=(as_block(value),))
    if isinstance(value, list | tuple) and any(is_content(one) for one in value):
        return ToolResult(content=tuple(as_block(one) for one in value))
    if is_mcp_type(type(value)) and hasattr(value, "content"):  # CallToolResult
        members = as_block(value)
        return ToolResult(
            value=members.get("structuredContent"),
            structured="structuredContent" in members,
            content=tuple(members["content"]),
            is_error=members.get("isError", False),
            meta=members.get("_meta"),
        )
    return value
