"""Content as MCP objects of one revision. Content types that the revision does not have become text.

The host has already validated the content.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from pegboard import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    ToolResult,
)
from pegboard.plugin import encode
from pegboard_plugins.protocols.mcp.common_fields import annotations_object, icon_objects, nested_meta, without_none
from pegboard_plugins.protocols.mcp.revisions import since


def tool_result_object(outcome: ToolResult, revision: str, *, structured: bool) -> dict[str, Any]:
    """Return a tool's result without `_meta`. Add structured content that is not empty as text, if there is no text."""
    value = outcome.value
    blocks = [] if outcome.content is None else [content_block(item, revision) for item in outcome.content]
    plain = outcome.content is None and value is not None
    if plain or (structured and value != {} and not any(item["type"] == "text" for item in blocks)):
        blocks.append({"type": "text", "text": value if isinstance(value, str) else encode(value).decode()})
    result: dict[str, Any] = {"content": blocks}
    if structured:
        result["structuredContent"] = value
    return {**result, "isError": outcome.is_error}


def content_block(item: str | Content, revision: str) -> dict[str, Any]:
    """Return one block of content."""
    if isinstance(item, str):
        return {"type": "text", "text": item}
    block: dict[str, Any] = _BLOCKS[type(item)](item, revision)
    return block


def contents_object(item: ResourceContents, revision: str) -> dict[str, Any]:
    """Return one part of a resource."""
    body = {"text": item.content} if isinstance(item.content, str) else {"blob": _base64(item.content)}
    return without_none(uri=item.uri, mimeType=item.mime_type, **body, _meta=nested_meta(item.meta, revision))


def _about(item: Content, revision: str) -> dict[str, Any]:
    return without_none(
        annotations=annotations_object(item.annotations, revision), _meta=nested_meta(item.meta, revision)
    )


def _text(item: TextContent, revision: str) -> dict[str, Any]:
    return {"type": "text", "text": item.text, **_about(item, revision)}


def _image(item: ImageContent, revision: str) -> dict[str, Any]:
    return {"type": "image", "data": _base64(item.data), "mimeType": item.mime_type, **_about(item, revision)}


def _audio(item: AudioContent, revision: str) -> dict[str, Any]:
    if not since(revision, "2025-03-26"):
        text = f"[Audio of type {item.mime_type}, which this revision of the protocol does not support]"
        return {"type": "text", "text": text, **_about(item, revision)}
    return {"type": "audio", "data": _base64(item.data), "mimeType": item.mime_type, **_about(item, revision)}


def _embedded(item: EmbeddedResource, revision: str) -> dict[str, Any]:
    return {"type": "resource", "resource": contents_object(item.resource, revision), **_about(item, revision)}


def _link(item: ResourceLink, revision: str) -> dict[str, Any]:
    if not since(revision, "2025-06-18"):
        text = f"{item.title or item.name}: {item.uri}" + (f"\n{item.description}" if item.description else "")
        return {"type": "text", "text": text, **_about(item, revision)}
    return without_none(
        type="resource_link",
        uri=item.uri,
        name=item.name,
        title=item.title,
        description=item.description,
        mimeType=item.mime_type,
        size=item.size,
        icons=icon_objects(item.icons, revision),
        **_about(item, revision),
    )


def _base64(data: bytes | str) -> str:
    return data if isinstance(data, str) else b64encode(data).decode()


_BLOCKS: dict[type[Any], Any] = {
    TextContent: _text,
    ImageContent: _image,
    AudioContent: _audio,
    EmbeddedResource: _embedded,
    ResourceLink: _link,
}
