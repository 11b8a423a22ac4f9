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
    plain = with_plain_root(schema)
    try:
        return _Inliner(schema, MAX_GROWTH_FACTOR * len(to_json(schema))).whole(plain)
    except _TooLargeError:
        return plain


class _TooLargeError(Exception):
    """The inlined schema exceeds `MAX_GROWTH_FACTOR`."""


class _Inliner:
    """Inlines each definition of one schema once.

    Raises:
        _TooLargeError: a definition exceeds the limit.
    """

    def __init__(self, schema: JsonObject, max_bytes: int) -> None:
        definitions: JsonObject = schema["$defs"]
        self._max_bytes = max_bytes
        uses = {name: set(_references(about)) & definitions.keys() for name, about in definitions.items()}
        recursive = {name for name in uses if name in _reachable(name, uses)}
        order = TopologicalSorter({name: uses[name] - recursive for name in uses.keys() - recursive})
        self._inlined: JsonObject = {}
        for name in order.static_order():
            # check each definition: definitions that use each other twice grow exponentially
            self._inlined[name] = self._checked(self._with_definitions(definitions[name]))
        # a schema with its own base URI keeps its references
        kept = recursive | {_name(subschema.schema.get("$ref")) for subschema in subschemas(schema) if subschema.base}
        self._kept = {name: self._with_definitions(about) for name, about in definitions.items() if name in kept}

    def whole(self, root: JsonObject) -> JsonObject:
        """Return the schema with its root inlined, and the definitions that are still used."""
        result = self._with_definitions({key: value for key, value in root.items() if key != "$defs"})
        return self._checked({"$defs": self._kept, **result} if self._kept else result)

    def _with_definitions(self, schema: JsonObject) -> JsonObject:
        return dict(map_subschemas(schema, self._replaced))

    def _replaced(self, schema: JsonObject) -> JsonObject:
        definition = self._inlined.get(_name(schema.get("$ref")))
        if definition is None:
            return schema
        del schema["$ref"]
        return _merged(definition, schema)

    def _checked(self, schema: JsonObject) -> JsonObject:
        if len(to_json(schema)) > self._max_bytes:
            raise _TooLargeError
        return schema


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
