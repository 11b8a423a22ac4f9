"""Resources as the worker protocol has them: members with nothing to say are left out."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from pegboard import Resource, ResourceContents


def resource_of(resource: Any) -> dict[str, Any]:
    """A resource of a list."""
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
    return {name: value for name, value in members.items() if value is not None}


def contents_of(part: ResourceContents) -> dict[str, Any]:
    """One part of what a resource holds."""
    members: dict[str, Any] = {"uri": part.uri, "mimeType": part.mime_type}
    if isinstance(part.content, str):
        members["text"] = part.content
    else:
        members["blob"] = b64encode(part.content).decode()
    members["_meta"] = None if part.meta is None else dict(part.meta)
    return {name: value for name, value in members.items() if value is not None}
