"""Replacement of references in generated schemas by their definitions, because some clients ignore `$ref`."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Any

from pydantic_core import to_json

from pegboard.schemas.plain_types import JsonObject
from pegboard.schemas.subschemas import map_subschemas, subschemas

MAX_GROWTH_FACTOR = 2
"""The limit of an inlined schema: this many times the size of the schema with references."""
_DEFINITIONS = "#/$defs/"
_ANNOTATIONS = frozenset(
    ("$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly")
)
"""Keywords that replace those of the definition if they are beside a reference to it."""


def with_plain_root(schema: JsonObject) -> JsonObject:
    """Resolve a reference at the root of a schema, because many clients read the root's `type`. Return the schema."""
    definition = schema["$defs"].get(_name(schema.get("$ref")))
    if definition is None:
        return schema
    beside = {key: value for key, value in schema.items() if key not in ("$defs", "$ref")}
    return {"$defs": schema["$defs"], **_merged(definition, beside)}


def inlined(schema: JsonObject) -> JsonObject:
    """Return a schema without references, except for references to recursive definitions.

    If that exceeds `MAX_GROWTH_FACTOR`, keep all references.
    """
    plain, definitions = with_plain_root(schema), schema["$defs"]
    max_bytes = MAX_GROWTH_FACTOR * len(to_json(schema))
    uses = {name: set(_references(about)) & definitions.keys() for name, about in definitions.items()}
    recursive = {name for name in uses if name in _reachable(name, uses)}
    # a schema with its own base URI keeps its references
    kept = recursive | {_name(subschema.schema.get("$ref")) for subschema in subschemas(schema) if subschema.base}
    order = TopologicalSorter({name: uses[name] - recursive for name in uses.keys() - recursive})
    done: JsonObject = {}
    root = {key: value for key, value in plain.items() if key != "$defs"}
    left = {name: about for name, about in definitions.items() if name in kept}
    try:
        for name in order.static_order():
            # check each definition: definitions that use each other twice grow exponentially
            done[name] = _with_definitions(definitions[name], done, max_bytes)
        return _with_definitions({"$defs": left, **root} if left else root, done, max_bytes)
    except _TooLargeError:
        return plain


class _TooLargeError(Exception):
    """The inlined schema exceeds `MAX_GROWTH_FACTOR`."""


def _with_definitions(schema: JsonObject, definitions: JsonObject, max_bytes: int) -> JsonObject:
    """Return a schema with definitions in place of references to them."""

    def replaced(subschema: JsonObject) -> JsonObject:
        definition = definitions.get(_name(subschema.get("$ref")))
        if definition is None:
            return subschema
        del subschema["$ref"]
        return _merged(definition, subschema)

    result = dict(map_subschemas(schema, replaced))
    if len(to_json(result)) > max_bytes:
        raise _TooLargeError
    return result


def _merged(definition: JsonObject, beside: JsonObject) -> JsonObject:
    """Return a definition with the keywords that are beside a reference to it."""
    if not all(key in _ANNOTATIONS or key.startswith("x-") for key in beside):
        return {"allOf": [definition], **beside}
    return dict(sorted({**definition, **beside}.items()))


def _references(schema: JsonObject) -> Iterator[str]:
    return (_name(subschema.schema["$ref"]) for subschema in subschemas(schema) if "$ref" in subschema.schema)


def _reachable(name: str, uses: dict[str, set[str]]) -> set[str]:
    """Return the definitions that a definition uses, directly or through other definitions."""
    reachable: set[str] = set()
    waiting = [name]
    while waiting:
        new = uses[waiting.pop()] - reachable
        reachable |= new
        waiting += new
    return reachable


def _name(reference: Any) -> str:
    """Return the name of the definition that a reference names. A property that is called `$ref` names none."""
    return reference.removeprefix(_DEFINITIONS) if isinstance(reference, str) else ""
