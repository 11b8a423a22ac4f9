"""Results and definitions of other servers in one revision.

Their members pass unchanged, also unknown ones. Only members and types of content that the revision does not have are
removed or replaced, as for the host's own results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.plugin import encode
from pegboard_plugins.protocols.mcp.revisions import SERVER_INFO, STATELESS_REVISIONS, SUBSCRIPTION_ID, since
from pegboard_plugins.protocols.mcp.wrapped_results import MEMBER

_SINCE = {
    "annotations": "2025-03-26",
    "icons": "2025-11-25",
    "structuredContent": "2025-06-18",
}
"""The first revisions of members. Other members exist in all revisions, or are unknown."""

_OF_HOST = frozenset(("name", "title", "description", "inputSchema", "outputSchema", "uri", "uriTemplate", "_meta"))
"""The members of definitions that the host sets."""

_NOT_PASSED = frozenset(("execution",))
"""Members of definitions that promise features which the host does not pass on, such as tasks."""

_NOT_TAKEN = _OF_HOST | _NOT_PASSED

_OF_CONNECTION = frozenset((SERVER_INFO, SUBSCRIPTION_ID))
"""The members of `_meta` that belong to the connection with the other server."""

_ROLES = frozenset(("user", "assistant"))
_THEMES = frozenset(("light", "dark"))
_TOOL_ANNOTATIONS = {
    "title": str,
    **dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), bool),
}
_ANNOTATIONS = {"audience": list, "priority": (int, float), "lastModified": str}
_ICON = {"src": str, "mimeType": str, "sizes": list, "theme": str}
_ARGUMENT = {"name": str, "title": str, "description": str, "required": bool}

_CACHING = {"ttlMs": 0, "cacheScope": "private"}
"""The caching members of contents that a server without them sent (2026-07-28)."""


def raw_result(value: Mapping[str, Any], revision: str, *, is_wrapped: bool) -> dict[str, Any]:
    """Return the members of a result, without those that only its server or its protocol sets."""
    is_stateless = revision in STATELESS_REVISIONS
    result = {name: member for name, member in value.items() if name != "resultType"}
    if isinstance(result.get("_meta"), Mapping):
        result["_meta"] = {name: member for name, member in result["_meta"].items() if name not in _OF_CONNECTION}
    else:
        result.pop("_meta", None)
    if "contents" in result:
        own = {name: member for name, member in result.items() if name not in _CACHING}
        result = {**_CACHING, **result} if is_stateless else own
    if "structuredContent" in result:
        _structure(result, revision, is_wrapped=is_wrapped and not is_stateless)
    if isinstance(content := result.get("content"), list):
        result["content"] = [_block(block, revision) for block in content]
    if isinstance(messages := result.get("messages"), list):
        result["messages"] = [_message(message, revision) for message in messages]
    return result


def _structure(result: dict[str, Any], revision: str, *, is_wrapped: bool) -> None:
    """Change structured content to the form of a revision. If the client would receive nothing else, add text."""
    value = result["structuredContent"]
    if not since(revision, _SINCE["structuredContent"]):
        del result["structuredContent"]
        if not result.get("content"):
            result["content"] = [{"type": "text", "text": value if isinstance(value, str) else encode(value).decode()}]
    elif is_wrapped or (revision not in STATELESS_REVISIONS and not isinstance(value, dict)):
        result["structuredContent"] = {MEMBER: value}


def _message(message: Any, revision: str) -> Any:
    if not isinstance(message, dict):
        return message
    return {name: _block(member, revision) if name == "content" else member for name, member in message.items()}


def _block(block: Any, revision: str) -> Any:
    """Return a block of content. A type that the revision does not have becomes text, as for own results."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "audio" and not since(revision, "2025-03-26"):
        text = f"[Audio of type {block.get('mimeType')}, which this revision of the protocol does not support]"
        return {"type": "text", "text": text}
    if kind == "resource_link" and not since(revision, "2025-06-18"):
        text = f"{block.get('title') or block.get('name')}: {block.get('uri')}"
        about = block.get("description")
        return {"type": "text", "text": f"{text}\n{about}" if about else text}
    return block


def with_raw_members(members: Mapping[str, Any], raw: Mapping[str, Any], revision: str, kind: str) -> dict[str, Any]:
    """Return a definition with the members of another server's object in place of those that the host does not set.

    Args:
        members: the members that the host lists.
        raw: the other server's object.
        revision: the revision of the client.
        kind: "tools", "resources", "templates" or "prompts".
    """
    passed = {
        name: value
        for name, value in raw.items()
        if name not in _NOT_TAKEN and _exists(name, revision, kind) and _is_valid(name, value, kind)
    }
    return {**members, **passed}


def _exists(name: str, revision: str, kind: str) -> bool:
    return (name == "annotations" and kind != "tools") or since(revision, _SINCE.get(name, ""))


def _is_valid(name: str, value: Any, kind: str) -> bool:
    """Return False for a member with a wrong type, for which clients would reject the whole list."""
    match name:
        case "annotations" if kind == "tools":
            return _has_types(value, _TOOL_ANNOTATIONS)
        case "annotations":
            return (
                _has_types(value, _ANNOTATIONS)
                and all(role in _ROLES for role in map(str, value.get("audience", ())))
                and 0 <= value.get("priority", 0) <= 1
            )
        case "icons":
            return isinstance(value, list) and all(map(_is_icon, value))
        case "arguments":
            return isinstance(value, list) and all(_has_types(argument, _ARGUMENT) for argument in value)
        case "mimeType":
            return isinstance(value, str)
        case "size":
            return type(value) is int
        case _:
            return True


def _is_icon(value: Any) -> bool:
    return (
        _has_types(value, _ICON)
        and "src" in value
        and value.get("theme", "light") in _THEMES
        and all(isinstance(size, str) for size in value.get("sizes", ()))
    )


def _has_types(value: Any, types: Mapping[str, Any]) -> bool:
    """Return True for an object whose members, if present, have these types. A boolean is not a number."""
    if not isinstance(value, Mapping):
        return False
    present = [(value[name], types[name]) for name in types if name in value]
    return all(isinstance(member, kind) and (kind is bool or type(member) is not bool) for member, kind in present)
