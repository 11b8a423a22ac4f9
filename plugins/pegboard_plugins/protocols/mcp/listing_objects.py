"""Tools, resources, prompts and the server as MCP objects of one revision.

Absent members are omitted, because several clients reject a whole list that contains null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard import ToolAnnotations
from pegboard.types import Identity, Listing, Prompt, PromptArgument, Resource, ResourceTemplate, Tool
from pegboard_plugins.protocols.mcp.common_fields import annotations_object, icon_objects, nested_meta, without_none
from pegboard_plugins.protocols.mcp.revisions import since

_MEMBERS = {"tools": "tools", "resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}


def listing_object(listing: Listing, revision: str) -> dict[str, Any]:
    """Return the result of a list method, without the caching members of 2026-07-28."""
    result: dict[str, Any] = {_MEMBERS[listing.kind]: [_object(item, revision, listing.kind) for item in listing.items]}
    if listing.next_cursor is not None:
        result["nextCursor"] = listing.next_cursor
    return result


def implementation_object(identity: Identity, revision: str) -> dict[str, Any]:
    """Return the server as an MCP Implementation."""
    title = identity.title if since(revision, "2025-06-18") else None
    about = {}
    if since(revision, "2025-11-25"):
        about = {"description": identity.description, "websiteUrl": identity.website_url}
    icons = icon_objects(identity.icons, revision)
    return without_none(name=identity.name, version=identity.version, title=title, **about, icons=icons)


def _object(item: Tool | Resource | ResourceTemplate | Prompt, revision: str, kind: str) -> dict[str, Any]:
    members = {**_OBJECTS[type(item)](item, revision), **_about(item, revision)}
    if item.raw is not None:
        from pegboard_plugins.protocols.mcp.raw_objects import with_raw_members

        members = with_raw_members(members, item.raw, revision, kind)
    return {name: value for name, value in members.items() if value is not None}


def _about(item: Tool | Resource | ResourceTemplate | Prompt, revision: str) -> dict[str, Any]:
    """Return the members that tools, resources, templates and prompts share."""
    return {
        "name": item.name,
        "title": item.title if since(revision, "2025-06-18") else None,
        "description": _description(item) or None,
        "icons": icon_objects(item.icons, revision),
        "_meta": nested_meta(item.meta, revision),
    }


def _description(item: Tool | Resource | ResourceTemplate | Prompt) -> str | None:
    message = getattr(item, "deprecated", None)
    return f"[DEPRECATED: {message}] {item.description}" if message else item.description


def _tool(tool: Tool, revision: str) -> dict[str, Any]:
    from pegboard_plugins.protocols.mcp.wrapped_results import output_schema

    return {
        "inputSchema": tool.input_schema,
        "outputSchema": output_schema(tool, revision),
        "annotations": _hints(tool.annotations) if since(revision, "2025-03-26") else None,
    }


def _resource(item: Resource, revision: str) -> dict[str, Any]:
    own = {"uri": item.uri, "size": item.size, "mimeType": item.mime_type}
    return {**own, "annotations": annotations_object(item.annotations, revision)}


def _template(item: ResourceTemplate, revision: str) -> dict[str, Any]:
    own = {"uriTemplate": item.uri_template, "mimeType": item.mime_type}
    return {**own, "annotations": annotations_object(item.annotations, revision)}


def _prompt(prompt: Prompt, revision: str) -> dict[str, Any]:
    return {"arguments": [_argument(argument, revision) for argument in prompt.arguments] or None}


def _argument(argument: PromptArgument, revision: str) -> dict[str, Any]:
    title = argument.title if since(revision, "2025-06-18") else None
    about = without_none(name=argument.name, title=title, description=argument.description)
    return {**about, "required": argument.required}


_OBJECTS: dict[type[Any], Callable[[Any, str], dict[str, Any]]] = {
    Tool: _tool,
    Resource: _resource,
    ResourceTemplate: _template,
    Prompt: _prompt,
}


def _hints(hints: ToolAnnotations | None) -> dict[str, Any] | None:
    if hints is None:
        return None
    return (
        without_none(
            title=hints.title,
            readOnlyHint=hints.read_only,
            destructiveHint=hints.destructive,
            idempotentHint=hints.idempotent,
            openWorldHint=hints.open_world,
            **hints.extra,
        )
        or None
    )
