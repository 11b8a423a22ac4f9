"""The check for booleans in place of numbers.

Python accepts True as 1, but a model that sends `true` for a number made a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.messages.field_lines import FieldPath

_NUMBERS = ("integer", "number")


def misplaced(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[tuple[FieldPath, str]]:
    """Return the path and the problem of each boolean that is in place of a number.

    Args:
        arguments: the arguments as the client sent them.
        schema: their JSON Schema.
    """
    return _Search(schema).of(arguments, schema, ())


class _Search:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._definitions = root.get("$defs", {})

    def of(self, value: Any, schema: Any, path: FieldPath) -> list[tuple[FieldPath, str]]:
        if not isinstance(schema, Mapping):
            return []
        if reference := schema.get("$ref"):
            return self.of(value, self._definitions.get(reference.rpartition("/")[2]), path)
        if forms := schema.get("anyOf") or schema.get("oneOf"):
            return min((self.of(value, form, path) for form in forms if self._is_for(value, form)), key=len, default=[])
        if isinstance(value, bool):
            kind = schema.get("type")
            if kind in _NUMBERS:
                return [(path, "must be " + _WORDS[kind])]
            if any(one is value for one in schema.get("enum", (value,))):
                return []
            return [(path, f"must not be {str(value).lower()}")]
        if isinstance(value, Mapping):
            named, others = schema.get("properties", {}), schema.get("additionalProperties")
            inner = [(name, named.get(name, others)) for name in value]
        elif isinstance(value, list):
            first, rest = schema.get("prefixItems", ()), schema.get("items")
            inner = [(place, first[place] if place < len(first) else rest) for place in range(len(value))]
        else:
            return []
        return [found for key, one in inner for found in self.of(value[key], one, (*path, key))]

    def _is_for(self, value: Any, form: Any) -> bool:
        """Return True if a value has the type that one form of a union requires."""
        while isinstance(form, Mapping) and "$ref" in form:
            form = self._definitions.get(form["$ref"].rpartition("/")[2])
        kind = form.get("type") if isinstance(form, Mapping) else None
        if isinstance(value, bool):
            return kind in (None, "boolean", *_NUMBERS)
        return kind in (None, "object" if isinstance(value, Mapping) else "array")


_WORDS = {kind: f"{article} {kind}, not true or false" for kind, article in (("integer", "an"), ("number", "a"))}
