"""The check for booleans in place of numbers.

Python accepts True as 1, but a model that sends `true` for a number made a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pegboard.messages.error_words import WORDS, FieldPath

_NUMBERS = ("integer", "number")
_OTHERS = frozenset((str, int, float, type(None)))
"""The types of JSON values that neither are nor contain booleans."""
_OBJECTS = (dict, Mapping)
"""The types of objects, the most frequent first, because the check of Mapping takes long."""


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
        schema = self._resolved(schema)
        if not isinstance(schema, _OBJECTS):
            return []
        if forms := schema.get("anyOf") or schema.get("oneOf"):
            return self._of_best(value, forms, path)
        if isinstance(value, bool):
            kind = schema.get("type")
            if kind in _NUMBERS:
                return [(path, WORDS[f"boolean_as_{kind}"])]
            if any(choice is value for choice in schema.get("enum", (value,))):
                return []
            return [(path, WORDS["boolean_excluded"].format(value=str(value).lower()))]
        if isinstance(value, _OBJECTS):
            if forms := schema.get("prefixItems"):  # an object for a NamedTuple, whose schema does not name the members
                return [problem for name in value for problem in self._of_best(value[name], forms, (*path, name))]
            # pydantic writes a dict whose keys have a pattern with this pattern only
            patterns = schema.get("patternProperties", {})
            named = schema.get("properties", {})
            others = next(iter(patterns.values()), schema.get("additionalProperties"))
            inner = [
                (name, member, named.get(name, others)) for name, member in value.items() if type(member) not in _OTHERS
            ]
        elif isinstance(value, list):
            first, rest = schema.get("prefixItems", ()), schema.get("items")
            inner = [
                (place, item, first[place] if place < len(first) else rest)
                for place, item in enumerate(value)
                if type(item) not in _OTHERS
            ]
        else:
            return []
        return [problem for key, member, its in inner for problem in self.of(member, its, (*path, key))]

    def _of_best(self, value: Any, forms: Iterable[Any], path: FieldPath) -> list[tuple[FieldPath, str]]:
        """Return the problems of the form of a union that has the fewest problems."""
        return min((self.of(value, form, path) for form in forms if self._is_for(value, form)), key=len, default=[])

    def _resolved(self, schema: Any) -> Any:
        while isinstance(schema, _OBJECTS) and "$ref" in schema:
            schema = self._definitions.get(schema["$ref"].rpartition("/")[2])
        return schema

    def _is_for(self, value: Any, form: Any) -> bool:
        """Return True if a value has the type that one form of a union requires."""
        form = self._resolved(form)
        kind = form.get("type") if isinstance(form, Mapping) else None
        if isinstance(value, bool):
            return kind in (None, "boolean", *_NUMBERS)
        return kind in (None, "object" if isinstance(value, Mapping) else "array")
