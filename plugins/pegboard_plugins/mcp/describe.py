"""Tools, resources, prompts and the server itself as MCP objects, with the fields that each revision has.

A member that is absent is left out, never null: several clients refuse a whole list for one null.
"""

from __future__ import annotations

from typing import Any

from pegboard import Identity, Listing, Prompt, Resource, Tool, ToolAnnotations
from pegboard_plugins.mcp.revisions import MODERN, since

_MEMBERS = {"tools": "tools", "resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}


def listing_object(listing: Listing, revision: str) -> dict[str, Any]:
    """The result of a list method, without the members that only 2026-07-28 adds."""
    result: dict[str, Any] = {_MEMBERS[listing.kind]: [_object(item, revision) for item in listing.items]}
    if listing.next_cursor is not None:
        result["nextCursor"] = listing.next_cursor
    return result


def implementation(identity: Identity, revision: str) -> dict[str, Any]:
    """The server as an MCP Implementation."""
    title = identity.title if since(revision, "2025-06-18") else None
    website = identity.website_url if since(revision, "2025-11-25") else None
    return _present(name=identity.name, version=identity.version, title=title, websiteUrl=website)


def _object(item: Tool | Resource | Prompt, revision: str) -> dict[str, Any]:
    title = item.title if since(revision, "2025-06-18") else None
    if isinstance(item, Tool):
        return _tool(item, title, revision)
    if isinstance(item, Resource):
        return _present(
            uri=item.uri, name=item.name, title=title, description=item.description, mimeType=item.mime_type
        )
    return _present(name=item.name, title=title, description=item.description)


def _tool(tool: Tool, title: str | None, revision: str) -> dict[str, Any]:
    return _present(
        name=tool.name,
        title=title,
        description=tool.description,
        inputSchema=tool.input_schema,
        outputSchema=tool.output_schema if has_output_schema(tool, revision) else None,
        annotations=_annotations(tool.annotations) if since(revision, "2025-03-26") else None,
    )


def has_output_schema(tool: Tool, revision: str) -> bool:
    """Whether a revision can carry the tool's output schema: any from 2026-07-28 on, of objects from 2025-06-18 on."""
    if tool.output_schema is None:
        return False
    return revision in MODERN or (since(revision, "2025-06-18") and tool.output_schema.get("type") == "object")


def _annotations(annotations: ToolAnnotations | None) -> dict[str, Any] | None:
    if annotations is None:
        return None
    return (
        _present(
            title=annotations.title,
            readOnlyHint=annotations.read_only,
            destructiveHint=annotations.destructive,
            idempotentHint=annotations.idempotent,
            openWorldHint=annotations.open_world,
        )
        or None
    )


def _present(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
