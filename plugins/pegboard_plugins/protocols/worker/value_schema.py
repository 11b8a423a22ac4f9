"""Value schemas for JSON Schemas.

A value schema can express less than a JSON Schema. It accepts every value that the JSON Schema accepts, and may accept
more. A value schema of type "json" without properties accepts any JSON value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

_PLAIN = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean"}
_MAX_DEPTH = 20
_MAX_SCHEMAS = 2000
"""How deep, and how many schemas in all, are followed. Recursive types would grow without limit; beyond the limits any
value is accepted.
"""
_NULL = {"type": "null"}


class ValueSchema(NamedTuple):
    """A value schema.

    Attributes:
        type: "string", "integer", "number", "boolean", "array" or "json".
        enum: the accepted strings, or None for any.
        properties: the members of an object, or None for other types and for any JSON value.
        required: the names of required members.
        items: the schema of an array's items.
        nullable: True if null is accepted too.
        description: the description.
    """

    type: str = "json"
    enum: tuple[str, ...] | None = None
    properties: Mapping[str, ValueSchema] | None = None
    required: tuple[str, ...] = ()
    items: ValueSchema | None = None
    nullable: bool = False
    description: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the schema as JSON, with every member."""
        inner = self.items
        return {
            "val_type": self.type,
            "inner_val_type": None if inner is None else inner.type,
            "enum": _listed(self.enum if inner is None else inner.enum),
            "properties": _members(self),
            "inner_properties": None if inner is None else _members(inner),
            "description": self.description,
            "required_keys": None if self.properties is None else sorted(self.required),
            "inner_required_keys": None if inner is None or inner.properties is None else sorted(inner.required),
            "nullable": self.nullable or None,
        }


ANY_JSON = ValueSchema()


def value_schema_of(schema: Any, root: Mapping[str, Any]) -> ValueSchema:
    """Return the value schema for a JSON Schema.

    Args:
        schema: the JSON Schema.
        root: the document that its references point into.
    """
    return _Reader(root).read(schema)


def _listed(enum: tuple[str, ...] | None) -> list[str] | None:
    return None if enum is None else list(enum)


def _members(value: ValueSchema) -> dict[str, Any] | None:
    return None if value.properties is None else {name: member.to_json() for name, member in value.properties.items()}


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._is_old_draft = "draft-0" in str(root.get("$schema"))
        self._depth = 0
        self._remaining = _MAX_SCHEMAS
        self._within: list[str] = []

    def read(self, schema: Any) -> ValueSchema:
        self._remaining -= 1
        # references in a schema with an own $id are relative to it
        if not isinstance(schema, Mapping) or self._depth >= _MAX_DEPTH or self._remaining <= 0 or "$id" in schema:
            return ANY_JSON
        self._depth += 1
        try:
            value = self._first_restriction(schema)
        finally:
            self._depth -= 1
        description = schema.get("description")
        return value._replace(description=description) if isinstance(description, str) else value

    def _first_restriction(self, schema: Mapping[str, Any]) -> ValueSchema:
        """Return the value schema of the first keyword that restricts the value. Each keyword alone accepts enough."""
        if self._is_old_draft and "$ref" in schema:  # in old drafts it hides its neighbours
            return self._reference(schema) or ANY_JSON
        fallback = ANY_JSON
        for read in (self._reference, self._options, self._all, self._own_keywords):
            value = read(schema)
            if value is not None and value._replace(nullable=False, description=None) != ANY_JSON:
                return value
            if value is not None:
                fallback = value._replace(nullable=value.nullable or fallback.nullable)
        return fallback

    def _reference(self, schema: Mapping[str, Any]) -> ValueSchema | None:
        reference = schema.get("$ref")
        if not isinstance(reference, str) or reference in self._within:
            return None
        self._within.append(reference)
        try:
            return self.read(_resolve(self._root, reference))
        finally:
            self._within.pop()

    def _options(self, schema: Mapping[str, Any]) -> ValueSchema | None:
        options = schema.get("anyOf", schema.get("oneOf"))
        if not isinstance(options, Sequence) or not options:
            return None
        others = [option for option in options if option != _NULL]
        union = _union([self.read(option) for option in others])
        return union._replace(nullable=union.nullable or len(others) < len(options))

    def _all(self, schema: Mapping[str, Any]) -> ValueSchema | None:
        parts = schema.get("allOf")
        if not isinstance(parts, Sequence) or not parts:
            return None
        return next((value for part in parts if (value := self.read(part)) != ANY_JSON), None)

    def _own_keywords(self, schema: Mapping[str, Any]) -> ValueSchema:
        if "const" in schema:
            return _choice([schema["const"]])
        if isinstance(schema.get("enum"), Sequence):
            return _choice(schema["enum"])
        types = schema.get("type", ())
        types = [types] if isinstance(types, str) else list(types)
        kinds = [kind for kind in types if kind != "null"]
        union = _union([self._of_type(kind, schema) for kind in kinds])
        return union._replace(nullable=bool(kinds) and len(kinds) < len(types))

    def _of_type(self, kind: str, schema: Mapping[str, Any]) -> ValueSchema:
        if kind in _PLAIN:
            return ValueSchema(_PLAIN[kind])
        if kind == "array":
            return ValueSchema("array", items=self._items(schema))
        members = schema.get("properties")
        if kind != "object" or not isinstance(members, Mapping):
            return ANY_JSON
        if not members and schema.get("additionalProperties", False) is not False:
            return ANY_JSON
        properties = {name: self.read(member) for name, member in members.items()}
        return ValueSchema(
            "json",
            properties=properties,
            required=tuple(name for name in schema.get("required", ()) if name in properties),
        )

    def _items(self, schema: Mapping[str, Any]) -> ValueSchema:
        first = schema.get("prefixItems", ())
        rest = schema.get("items", True)
        if first and schema.get("maxItems", len(first) + 1) <= len(first):
            rest = False
        schemas = [*first, *([] if first and rest is False else [rest])]
        union = _union([self.read(item) for item in schemas])._replace(description=None)
        # a value schema cannot express items that are arrays or null
        return ANY_JSON if union.type == "array" or union.nullable else union


def _resolve(root: Mapping[str, Any], reference: str) -> Any:
    """Return the target of a JSON pointer (RFC 6901), or None if there is none."""
    path, *parts = unquote(reference).split("/")
    if path != "#":
        return None
    target: Any = root
    for part in parts:
        key = part.replace("~1", "/").replace("~0", "~")
        target = target.get(key) if isinstance(target, Mapping) else None
    return target


def _choice(values: Iterable[Any]) -> ValueSchema:
    values = list(values)
    others = [value for value in values if value is not None]
    union = _union([_single(value) for value in others])
    return union._replace(nullable=len(others) < len(values))


def _single(value: Any) -> ValueSchema:
    if isinstance(value, str):
        return ValueSchema("string", enum=(value,))
    if isinstance(value, bool):
        return ValueSchema("boolean")
    if isinstance(value, int):
        return ValueSchema("integer")
    return ValueSchema("number") if isinstance(value, float) else ANY_JSON


def _union(options: Sequence[ValueSchema]) -> ValueSchema:
    """Return a schema that accepts every value that one of the options accepts."""
    if not options:
        return ANY_JSON
    nullable = any(option.nullable for option in options)
    types = {option.type for option in options}
    if len(options) == 1:
        union = options[0]
    elif types == {"string"}:
        enums = [option.enum for option in options if option.enum is not None]
        every = dict.fromkeys(text for enum in enums for text in enum)
        union = ValueSchema("string", enum=tuple(every) if len(enums) == len(options) else None)
    elif types <= {"integer", "number"}:
        union = ValueSchema("number" if "number" in types else "integer")
    elif types == {"boolean"}:
        union = ValueSchema("boolean")
    elif types == {"array"}:
        union = ValueSchema("array", items=_union([option.items or ANY_JSON for option in options]))
    else:
        union = ANY_JSON
    return union._replace(nullable=nullable)
