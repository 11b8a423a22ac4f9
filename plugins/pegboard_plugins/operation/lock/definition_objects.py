"""Definitions as JSON objects: the members of MCP, and the members that only the host knows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pegboard.types import AuthProvider, Prompt, Resource, ResourceTemplate, Tool, ToolAuthorization

if TYPE_CHECKING:
    from pegboard import Annotations, Icon, ToolAnnotations

_OF_HOST = frozenset(("name", "title", "description", "inputSchema", "outputSchema", "uri", "uriTemplate", "_meta"))
"""The members of another server's object that clients do not receive from it."""

_AUTHORIZATION: Mapping[str, Any] = {"provider": str, "type": str, "id": str, "scopes": list}
HOST_MEMBERS: Mapping[str, Any] = {
    "version": str,
    "deprecated": str,
    "requires": {"authorization": _AUTHORIZATION, "scopes": list, "secrets": list, "metadata": list},
}
"""The members of a tool that are not members of an MCP object, with their types. A list has strings."""


def definition_object(item: Tool | Resource | ResourceTemplate | Prompt) -> dict[str, Any]:
    """Return an item as a JSON object. Members without a value are omitted.

    The members are those of the newest revision of MCP. A tool also has `version`, `deprecated` and `requires`. The
    members of another server's object (`raw`) are included, even if no revision defines them.
    """
    own: dict[str, Any] = {
        "name": item.name,
        "title": item.title,
        "description": item.description,
        "icons": [_icon(icon) for icon in item.icons],
        "_meta": item.meta,
    }
    if isinstance(item, Tool):
        own |= _tool_members(item)
    elif isinstance(item, Prompt):
        own["arguments"] = [_given(argument._asdict()) for argument in item.arguments]
    else:
        own |= _resource_members(item)
    known = _given(own)
    if item.raw is None:
        return known
    return known | {name: member for name, member in item.raw.items() if name not in _OF_HOST}


def _tool_members(tool: Tool) -> dict[str, Any]:
    requires = tool.requires
    return {
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": _hints(tool.annotations) if tool.annotations else None,
        "version": tool.version,
        "deprecated": tool.deprecated,
        "requires": requires and _given({**requires._asdict(), "authorization": _token(requires.authorization)}),
    }


def _resource_members(item: Resource | ResourceTemplate) -> dict[str, Any]:
    place = {"uri": item.uri, "size": item.size} if isinstance(item, Resource) else {"uriTemplate": item.uri_template}
    return {
        **place,
        "mimeType": item.mime_type,
        "annotations": _annotations(item.annotations) if item.annotations else None,
    }


def _hints(hints: ToolAnnotations) -> dict[str, Any]:
    known = {
        "title": hints.title,
        "readOnlyHint": hints.read_only,
        "destructiveHint": hints.destructive,
        "idempotentHint": hints.idempotent,
        "openWorldHint": hints.open_world,
    }
    return {**hints.extra, **_given(known)}


def _annotations(hints: Annotations) -> dict[str, Any]:
    changed = hints.last_modified
    time = changed if isinstance(changed, str | None) else changed.isoformat()
    return _given({"audience": hints.audience, "priority": hints.priority, "lastModified": time})


def _icon(icon: Icon) -> dict[str, Any]:
    return _given({"src": icon.src, "mimeType": icon.mime_type, "sizes": icon.sizes, "theme": icon.theme})


def _token(token: ToolAuthorization | None) -> dict[str, Any] | None:
    if token is None:
        return None
    return _given({"provider": token.provider_id, "type": token.provider_type, "id": token.id, "scopes": token.scopes})


def _given(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have a value. Empty strings, lists and objects have no value, but false and 0 do."""
    return {name: member for name, member in members.items() if member or member is False or member == 0}


def host_options(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a tool that only the host knows, from the object of its definition."""
    requires = definition.get("requires", {})
    return {
        "deprecated": definition.get("deprecated"),
        "requires_auth": _authorization(requires.get("authorization")),
        "scopes": tuple(requires.get("scopes", ())),
        "requires_secrets": tuple(requires.get("secrets", ())),
        "requires_metadata": tuple(requires.get("metadata", ())),
    }


def _authorization(authorization: Mapping[str, Any] | None) -> ToolAuthorization | None:
    """Return the authorization that a locked tool requires. The import replaces it by the toolkit's own object."""
    if authorization is None:
        return None
    name = authorization.get("provider")
    required = _class_of(AuthProvider(name, name or authorization.get("id", ""), type=authorization.get("type", "")))
    return required(id=authorization.get("id"), scopes=authorization.get("scopes"))


@lru_cache(maxsize=8)
def _class_of(provider: AuthProvider) -> type[ToolAuthorization]:
    """Return the class of a provider's requirements. The tools of a toolkit often require tokens of one provider."""
    return type("LockedAuthorization", (ToolAuthorization,), {"provider": provider})
