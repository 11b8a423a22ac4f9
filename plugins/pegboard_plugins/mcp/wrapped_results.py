"""Wrapping of results that are not objects. Sessions send such a result as the member `result` of an object.

In 2025-06-18 and 2025-11-25, structured content is an object. In 2026-07-28 it is any JSON value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.types import Tool
from pegboard_plugins.mcp.revisions import STATELESS_REVISIONS, since

MEMBER = "result"
_ROOT_KEYWORDS = ("$schema", "$defs", "definitions")
"""Keywords that stay at the root."""
_NAMED = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))
"""Keywords whose value is an object with a schema for each name."""
_DATA = frozenset(("const", "default", "enum", "examples"))
"""Keywords that never contain schemas."""
_KEPT_REFERENCES = ("#/$defs/", "#/definitions/")


def output_schema(tool: Tool, revision: str) -> Mapping[str, Any] | None:
    """Return the output schema of a tool in one revision. Return None if the client gets none."""
    schema = tool.output_schema
    if schema is None or not since(revision, "2025-06-18"):
        return None
    return _wrapped(schema) if revision not in STATELESS_REVISIONS and is_wrapped(tool) else schema


def is_wrapped(tool: Tool) -> bool:
    """Return True if sessions send all results of the tool wrapped in an object."""
    return tool.output_schema is not None and tool.output_schema.get("type") != "object"


def _wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    is_base = not str(schema.get("$id", "#")).startswith("#")  # references inside then do not depend on the root
    outer = {key: schema[key] for key in (_ROOT_KEYWORDS[:1] if is_base else _ROOT_KEYWORDS) if key in schema}
    inner = {key: value for key, value in schema.items() if key not in outer}
    if not is_base:
        outer, inner = _moved(outer), _moved(inner)
    return {**outer, "type": "object", "properties": {MEMBER: inner}, "required": [MEMBER]}


def _moved(schema: Any, *, are_names: bool = False) -> Any:
    """Return a value of a schema with its references adjusted to a place one level below the root.

    Args:
        schema: the value.
        are_names: True if its members are schemas by name, not keywords.
    """
    if isinstance(schema, list):
        return [_moved(one) for one in schema]
    if not isinstance(schema, dict) or not str(schema.get("$id", "#")).startswith("#"):
        return schema
    return {
        key: one
        if key in _DATA and not are_names
        else _moved_reference(one)
        if key in ("$ref", "$dynamicRef") and isinstance(one, str)
        else _moved(one, are_names=key in _NAMED and not are_names)
        for key, one in schema.items()
    }


def _moved_reference(reference: str) -> str:
    points_to_root = reference == "#" or reference.startswith("#/")
    if not points_to_root or reference.startswith(_KEPT_REFERENCES):
        return reference
    return f"#/properties/{MEMBER}{reference[1:]}"
