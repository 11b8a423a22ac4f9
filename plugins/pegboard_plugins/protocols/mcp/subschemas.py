"""The subschemas of a JSON Schema, for rules of MCP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_NAMED = frozenset(("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"))
"""Keywords whose value is an object with a schema for each name."""
_DATA = frozenset(("$vocabulary", "const", "default", "dependentRequired", "enum", "examples", "required"))
"""Keywords that never contain schemas."""


def subschemas(
    schema: dict[str, Any], path: Path = (), *, same_base: bool = False
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the schema and every subschema with their paths, including those of unknown keywords.

    Args:
        schema: the schema.
        path: its path.
        same_base: True to leave out schemas with their own base URI. Their references have another meaning.
    """
    if same_base and has_own_base(schema):
        return
    yield path, schema
    for keyword, value in schema.items():
        if keyword in _NAMED and isinstance(value, dict):
            inside = [((*path, keyword, name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            inside = [((*path, keyword, place), inner) for place, inner in enumerate(value)]
        else:
            inside = [((*path, keyword), value)]
        for place, inner in inside:
            if keyword not in _DATA and isinstance(inner, dict):
                yield from subschemas(inner, place, same_base=same_base)


def has_own_base(schema: dict[str, Any]) -> bool:
    """Return True if a schema has an `$id` that is a base URI. In draft-07, `$id` may also be an anchor."""
    identifier = schema.get("$id")
    return isinstance(identifier, str) and not identifier.startswith("#")
