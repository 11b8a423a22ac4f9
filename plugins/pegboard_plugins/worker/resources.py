"""Resources as the worker protocol has them: members with nothing to say are left out."""

from __future__ import annotations

from typing import Any

from pegboard.types import Resource


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
