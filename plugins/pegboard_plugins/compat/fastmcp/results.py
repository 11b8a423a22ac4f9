"""Results of functions: media, MCP objects and mixed lists as content of pegboard."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import to_json, to_jsonable_python

from pegboard import Content
from pegboard import ToolResult as HostToolResult
from pegboard_plugins.compat.fastmcp.media import MEDIA_TYPES
from pegboard_plugins.compat.fastmcp.types import Object

_MCP_MODULES = ("mcp.types", "mcp_types")
_BLOCK_TYPES = ("text", "image", "audio", "resource", "resource_link")


class ToolResult(NamedTuple):
    """The result of a tool with content, structured content and metadata (FastMCP).

    Attributes:
        content: a string, a block, or a list of them; the structured content as JSON when None.
        structured_content: an object, or a value that becomes one in JSON.
        meta: the `_meta` of the result.
        is_error: True if the call failed.
    """

    content: Any = None
    structured_content: Any = None
    meta: dict[str, Any] | None = None
    is_error: bool = False

    def converted(self) -> HostToolResult:
        """Return the result as a result of pegboard."""
        value = to_jsonable_python(self.structured_content)
        content = value if self.content is None else self.content
        several = content if isinstance(content, list | tuple) else [content]
        return HostToolResult(
            value=value,
            structured=value is not None,
            content=tuple(as_block(item) for item in several),
            is_error=self.is_error,
            meta=self.meta,
        )


def is_mcp_type(cls: Any) -> bool:
    """Return True for a class of MCP objects: from `types`, or from the official SDK."""
    if not isinstance(cls, type) or not issubclass(cls, BaseModel):
        return False
    return issubclass(cls, Object) or cls.__module__.startswith(_MCP_MODULES)


def is_content(value: object) -> bool:
    """Return True for media and for content blocks."""
    if isinstance(value, MEDIA_TYPES):
        return True
    return is_mcp_type(type(value)) and getattr(value, "type", None) in _BLOCK_TYPES


def as_block(value: Any) -> Any:
    """Return one item of content: media, an MCP object as a dict, or a string."""
    if isinstance(value, MEDIA_TYPES):
        return value
    if is_mcp_type(type(value)):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value if isinstance(value, str | Content) else to_json(value, fallback=str).decode()


def tool_result(value: Any) -> Any:
    """Return the result of a tool in a form that pegboard serves."""
    if isinstance(value, ToolResult):
        return value.converted()
    if is_content(value):
        return HostToolResult(content=(as_block(value),))
    if isinstance(value, list | tuple) and any(is_content(item) for item in value):
        return HostToolResult(content=tuple(as_block(item) for item in value))
    if is_mcp_type(type(value)) and hasattr(value, "content"):  # CallToolResult
        members = as_block(value)
        return HostToolResult(
            value=members.get("structuredContent"),
            structured="structuredContent" in members,
            content=tuple(members["content"]),
            is_error=members.get("isError", False),
            meta=members.get("_meta"),
        )
    return value
