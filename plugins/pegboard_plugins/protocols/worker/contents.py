"""Content in the worker protocol: text as a string, other content as JSON in MCP's format.

Members without a value are omitted.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from pegboard import AudioContent, Content, EmbeddedResource, ImageContent, ResourceContents, ResourceLink, TextContent
from pegboard.types import Resource


def content_value(blocks: Sequence[Content]) -> Any:
    """Return content as the value of a result: one string if all blocks are text, otherwise a list of blocks."""
    if all(isinstance(block, TextContent) for block in blocks):
        return "\n".join(block.text for block in blocks if isinstance(block, TextContent))
    return [_block(block) for block in blocks]


def resource_contents(part: ResourceContents) -> dict[str, Any]:
    """Return one part of the contents of a resource."""
    members: dict[str, Any] = {"uri": part.uri, "mimeType": part.mime_type}
    if isinstance(part.content, str):
        members["text"] = part.content
    else:
        members["blob"] = b64encode(part.content).decode()
    members["_meta"] = None if part.meta is None else dict(part.meta)
    return _present(members)


def listed_resource(resource: Any) -> dict[str, Any]:
    """Return a resource as an item of a list."""
    assert isinstance(resource, Resource)
    members = {
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
        "size": resource.size,
        "_meta": None if resource.meta is None else dict(resource.meta),
    }
    return _present(members)


def _block(block: Content) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageContent | AudioContent):
        kind = "image" if isinstance(block, ImageContent) else "audio"
        data = block.data if isinstance(block.data, str) else b64encode(block.data).decode()
        return {"type": kind, "data": data, "mimeType": block.mime_type}
    if isinstance(block, EmbeddedResource):
        return {"type": "resource", "resource": resource_contents(block.resource)}
    assert isinstance(block, ResourceLink)
    about = {"title": block.title, "description": block.description, "mimeType": block.mime_type, "size": block.size}
    return {"type": "resource_link", "uri": block.uri, "name": block.name, **_present(about)}


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
