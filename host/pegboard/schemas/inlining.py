"""Replacement of references in generated schemas by their definitions, because some clients ignore `$ref`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import to_json

from pegboard.schemas.plain_types import JsonObject
from pegboard.schemas.subschemas import subschemas

MAX_GROWTH_FACTOR = 2
"""The limit of an inlined schema: this many times the size of the schema with references."""
_DEFINITIONS = "#/$defs/"
_NAMED = frozenset(("patternProperties", "properties"))
"""Keywords whose value is an object with a schema for each name."""
_DATA = frozenset(("const", "default", "enum", "examples"))
"""Keywords that never contain schemas."""
_ANNOTATIONS = frozenset(("default", "deprecated", "description", "examples", "title"))
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
    inliner = _Inliner(schema["$defs"], MAX_GROWTH_FACTOR * len(to_json(schema)))
    try:
        kept = {name: inliner.inlined(schema["$defs"][name]) for name in inliner.recursive}
        found = inliner.inlined({key: value for key, value in plain.items() if key != "$defs"})
        return inliner.checked({"$defs": kept, **found} if kept else found)
    except _TooLargeError:
        return plain


class _TooLargeError(Exception):
    """The inlined schema exceeds `MAX_GROWTH_FACTOR`."""


class _Inliner:
    """Inlines each definition of one schema once.

    Attributes:
        recursive: the names of recursive definitions.
    """

    def __init__(self, definitions: JsonObject, max_bytes: int) -> None:
        self._definitions = definitions
        self._max_bytes = max_bytes
        self._inlined: dict[str, JsonObject] = {}
        uses = {name: set(_references(about)) & definitions.keys() for name, about in definitions.items()}
        self.recursive = [name for name in uses if name in _reachable(name, uses)]

    def checked(self, schema: JsonObject) -> JsonObject:
        if len(to_json(schema)) > self._max_bytes:
            raise _TooLargeError
        return schema

    def inlined(self, schema: Any, *, are_names: bool = False) -> Any:
        """Return a value of a schema with the definitions in place of the references.

        Args:
            schema: the value.
            are_names: True if its members are schemas by name, not keywords.
        """
        if isinstance(schema, list):
            return [self.inlined(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        found = {
            key: one if key in _DATA and not are_names else self.inlined(one, are_names=key in _NAMED and not are_names)
            for key, one in schema.items()
        }
        name = _name(found.get("$ref"))
        if name not in self._definitions or name in self.recursive:
            return found
        del found["$ref"]
        return _merged(self._definition(name), found)

    def _definition(self, name: str) -> JsonObject:
        # checked one by one: definitions that use each other twice grow exponentially
        if name not in self._inlined:
            self._inlined[name] = self.checked(self.inlined(self._definitions[name]))
        return self._inlined[name]


def _merged(definition: JsonObject, beside: JsonObject) -> JsonObject:
    """Return a definition with the keywords that are beside a reference to it."""
    if any(key in definition for key in beside.keys() - _ANNOTATIONS):
        return {"allOf": [definition], **beside}
    return dict(sorted({**definition, **beside}.items()))


def _references(schema: JsonObject) -> Iterator[str]:
    return (_name(one.schema["$ref"]) for one in subschemas(schema) if "$ref" in one.schema)


def _reachable(name: str, uses: dict[str, set[str]]) -> set[str]:
    """Return the definitions that a definition uses, directly or through other definitions."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = uses[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _name(reference: Any) -> str:
    """Return the name of the definition that a reference names. A property that is called `$ref` names none."""
    return reference.removeprefix(_DEFINITIONS) if isinstance(reference, str) else ""
