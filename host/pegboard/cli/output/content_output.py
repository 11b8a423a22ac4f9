"""Content as text for people and as JSON for programs. Text shows the size of binary data, not the data."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from pegboard.types.content import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

_TYPES = {
    TextContent: "text",
    ImageContent: "image",
    AudioContent: "audio",
    ResourceLink: "resource_link",
    EmbeddedResource: "resource",
}
_NAMES = {"mime_type": "mimeType", "last_modified": "lastModified", "meta": "_meta"}


def as_text(block: Content) -> str:
    """Return a block of content as text."""
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ResourceLink):
        return f"{block.title or block.name}: {block.uri}"
    if isinstance(block, EmbeddedResource):
        part = block.resource
        if isinstance(part.content, str):
            return part.content
        return f"[{part.uri}: {part.mime_type or 'binary'}, {len(part.content)} bytes]"
    kind = type(block).__name__.removesuffix("Content").lower()
    size = len(block.data) if isinstance(block.data, bytes) else len(block.data) * 3 // 4
    return f"[{kind}: {block.mime_type}, {size} bytes]"


def as_object(block: Content) -> dict[str, Any]:
    """Return a block as the object of MCP (ContentBlock). Bytes are in base64."""
    return {"type": _TYPES[type(block)], **_plain(block)}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if hasattr(value, "_asdict"):
        set_fields = ((name, member) for name, member in value._asdict().items() if member is not None)
        return {_member(name, member): _plain(member) for name, member in set_fields}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _member(field: str, value: Any) -> str:
    """Return the name that MCP has for a field."""
    if field == "content":
        return "text" if isinstance(value, str) else "blob"
    return _NAMES.get(field, field)
