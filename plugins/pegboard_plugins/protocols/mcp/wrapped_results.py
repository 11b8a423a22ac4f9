"""Wrapping of results that are not objects. Sessions send such a result as the member `result` of an object.

In 2025-06-18 and 2025-11-25, structured content is an object. In 2026-07-28 it is any JSON value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.plugin import decode, encode
from pegboard.types import Tool
from pegboard_plugins.protocols.mcp.revisions import STATELESS_REVISIONS, since
from pegboard_plugins.protocols.mcp.subschemas import has_own_base, subschemas

MEMBER = "result"
_ROOT_KEYWORDS = ("$schema", "$defs", "definitions")
"""Keywords that stay at the root."""
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
    moved: dict[str, Any] = decode(encode(schema))
    # a schema with its own base URI keeps its definitions and references
    at_root = _ROOT_KEYWORDS[:1] if has_own_base(moved) else _ROOT_KEYWORDS
    for _, subschema in subschemas(moved, same_base=True):
        _move(subschema)
    outer = {key: moved[key] for key in at_root if key in moved}
    inner = {key: value for key, value in moved.items() if key not in outer}
    return {**outer, "type": "object", "properties": {MEMBER: inner}, "required": [MEMBER]}


def _move(schema: dict[str, Any]) -> None:
    """Adjust the references of a subschema to a place one level below the root."""
    for keyword in ("$ref", "$dynamicRef"):
        if isinstance(schema.get(keyword), str):
            schema[keyword] = _moved_reference(schema[keyword])


def _moved_reference(reference: str) -> str:
    points_to_root = reference == "#" or reference.startswith("#/")
    if not points_to_root or reference.startswith(_KEPT_REFERENCES):
        return reference
    return f"#/properties/{MEMBER}{reference[1:]}"
