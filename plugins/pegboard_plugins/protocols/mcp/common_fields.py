"""Members that all kinds of MCP objects share: annotations, icons and `_meta`, as each revision defines them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pegboard_plugins.protocols.mcp.revisions import since

if TYPE_CHECKING:
    from pegboard import Annotations, Icon


def annotations_object(item: Annotations | None, revision: str) -> dict[str, Any] | None:
    """Return annotations of content or resources, or None for annotations without members."""
    if item is None:
        return None
    modified = item.last_modified
    return (
        without_none(
            audience=None if item.audience is None else list(item.audience),
            priority=item.priority,
            lastModified=(modified if isinstance(modified, str | None) else modified.isoformat())
            if since(revision, "2025-06-18")
            else None,
        )
        or None
    )


def icon_objects(items: Iterable[Icon] | None, revision: str) -> list[dict[str, Any]] | None:
    """Return icons, for revisions since 2025-11-25."""
    if not items or not since(revision, "2025-11-25"):
        return None
    return [
        without_none(
            src=item.src,
            mimeType=item.mime_type,
            sizes=None if item.sizes is None else list(item.sizes),
            theme=item.theme,
        )
        for item in items
    ]


def nested_meta(meta: Any, revision: str) -> Any:
    """Return the `_meta` of an object inside a result. Revisions before 2025-06-18 do not have it."""
    return meta if meta and since(revision, "2025-06-18") else None


def without_none(**members: Any) -> dict[str, Any]:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}
