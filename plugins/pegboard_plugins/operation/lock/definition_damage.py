"""Wrong types in the definitions of a lock, found before a toolkit is served from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard_plugins.operation.lock.catalogue_lock import LockedOwner
from pegboard_plugins.operation.lock.definition_objects import HOST_MEMBERS

_META: Mapping[str, Any] = {"pegboard/version": str, "pegboard/tags": list}
_TOOL: Mapping[str, Any] = {
    "title": str,
    "description": str,
    "inputSchema": {"type": str, "properties": dict, "required": list},
    "outputSchema": dict,
    "annotations": dict,
    "_meta": _META,
    **HOST_MEMBERS,
}
"""The types of the members with which a host serves a tool. A list has strings."""
_OTHER: Mapping[str, Any] = {"_meta": _META}
"""The types of such members of a resource or prompt. The host checks all others when it compiles the definition."""
_WORDS: Mapping[type, str] = {str: "a string", list: "a list of strings", dict: "an object"}


def damage(owner: LockedOwner) -> str | None:
    """Return the first member of a toolkit's definitions that has a wrong type, and its right type, or None."""
    others = {**owner.resources, **owner.prompts}
    definitions = [(name, {"inputSchema": None, **tool.definition}, _TOOL) for name, tool in owner.tools.items()]
    definitions += [(name, dict(item.definition), _OTHER) for name, item in others.items()]
    wrong = (f"{name}: {problem}" for name, members, types in definitions if (problem := _wrong(members, types)))
    return next(wrong, None)


def _wrong(tree: Mapping[str, Any], types: Mapping[str, Any], path: str = "") -> str | None:
    """Return the first member of an object with a wrong type, or None."""
    for name, expected in types.items():
        if name not in tree:
            continue
        value: Any = tree[name]
        kind: Any = expected if isinstance(expected, type) else dict
        if type(value) is not kind or (kind is list and not all(type(item) is str for item in value)):
            return f"{path}{name} must be {_WORDS[kind]}"
        if kind is not expected and (inner := _wrong(value, expected, f"{path}{name}.")):
            return inner
    return None
