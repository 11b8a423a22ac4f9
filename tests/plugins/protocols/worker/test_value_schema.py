"""Value schemas accept every value that the JSON Schema accepts, and few others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing.exceptions import Unresolvable

from pegboard_plugins.protocols.worker.value_schema import ANY_JSON, ValueSchema, value_schema_of
from tests.plugins.protocols.worker import shapes

SCALARS = ["x", "y", "", 0, 1, -1, 2.5, 1.0, True, False, None]
DEFINED: Mapping[str, Any] = {
    "tree": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    },
    "left": {"type": "object", "properties": {"a": {"$ref": "#/$defs/right"}}, "required": ["a"]},
    "right": {
        "anyOf": [{"type": "null"}, {"$ref": "#/$defs/left"}, {"type": "array", "items": {"$ref": "#/$defs/left"}}]
    },
    "a b/c": {"type": "string", "enum": ["x"]},
    "named": {"$anchor": "named", "type": "integer"},
    "apart": {"$id": "https://x.example/apart", "$defs": {"tree": {"type": "boolean"}}, "$ref": "#/$defs/tree"},
}
REFERENCES = [
    *(f"#/$defs/{name}" for name in ("tree", "left", "right", "a%20b~1c", "named", "apart")),
    *("#named", "#/properties/other", "#"),
]


def is_valid(validator: Any, item: Any) -> bool:
    """Return True if a value fits a schema. No value fits endless or unknown references."""
    try:
        return bool(validator.is_valid(item))
    except (Unresolvable, RecursionError):
        return False


def accepts(value: ValueSchema, item: Any) -> bool:
    """Return True if a value schema accepts a value."""
    if item is None and value.nullable:
        return True
    if value.type == "json":
        return value.properties is None or (isinstance(item, dict) and has_members(value, item))
    if value.type == "array":
        return isinstance(item, list) and all(accepts(value.items or ANY_JSON, member) for member in item)
    if value.type == "string":
        return isinstance(item, str) and (value.enum is None or item in value.enum)
    if value.type == "boolean":
        return isinstance(item, bool)
    whole = isinstance(item, int) or (isinstance(item, float) and item.is_integer())
    return not isinstance(item, bool) and (whole if value.type == "integer" else isinstance(item, int | float))


def has_members(value: ValueSchema, members_by_name: dict[str, Any]) -> bool:
    members = value.properties or {}
    return set(value.required) <= members_by_name.keys() and all(
        accepts(members[name], member) for name, member in members_by_name.items() if name in members
    )


INNER: list[Any] = [{"type": "string"}, {"type": ["integer", "null"]}, {"type": "array", "items": {"type": "string"}}]
EACH: list[Any] = [
    *({"type": kind} for kind in ("string", "integer", "number", "boolean", "null", "array", "object")),
    *({"type": [one, two]} for one in ("string", "array", "object") for two in ("null", "integer")),
    *({"const": value} for value in (*SCALARS, ["x"], {"a": 1})),
    *({"enum": values} for values in (["x", None], [1, 2.5], ["x", 1], [True, 1], [["x"]], [None])),
    *({"$ref": place, **more} for place in REFERENCES for more in ({}, {"type": "string"})),
    *({"type": "array", "prefixItems": [one], "items": two} for one in INNER for two in (*INNER, False, True)),
    *({"type": "array", "prefixItems": INNER, "maxItems": most} for most in (0, 2, 4)),
    *({"type": "object", "properties": {"a": inner}, "required": ["a", "z"]} for inner in (*INNER, False, True)),
    *({"type": "object", "properties": {}, "additionalProperties": inner} for inner in (*INNER, False, True)),
    *({key: [one, two]} for key in ("anyOf", "oneOf", "allOf") for one in INNER for two in (*INNER, {"type": "null"})),
    *({"type": "array", "items": {key: INNER}} for key in ("anyOf", "oneOf", "allOf")),
    {"anyOf": [{"const": None}, {"enum": ["x", None]}]},
    {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"minProperties": 1}]},
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "properties": {"a": {}}},
    {"type": ["array", "object"], "items": {"type": "string"}, "properties": {"a": {"type": "string"}}},
]
POOL: list[Any] = [
    *SCALARS,
    [],
    {},
    *([item] for item in (*SCALARS, ["x"], {"a": 1})),
    *([one, two] for one in ("x", 1, None, ["x"]) for two in ("x", 1, None, ["x"])),
    ["x", None, ["x"], "x"],
    *({"a": item} for item in (*SCALARS, ["x"], {"a": "x"}, {"a": None}, [{"a": "x"}])),
    *({"a": item, "z": 1} for item in ("x", 1, None, ["x"])),
    {"a": "x", "b": [{"a": "y", "b": []}]},
    {"other": 1},
]


def nested(schema: Any) -> Iterator[Any]:
    """Yield schemas that contain a schema."""
    yield {"type": "array", "items": schema}
    yield {"type": "object", "properties": {"a": schema}}
    yield {"type": "object", "additionalProperties": schema}
    yield {"not": schema}
    yield {"$id": "https://x.example/inner", "type": "object", "properties": {"a": schema}}
    for inner in INNER:
        yield from ({key: [schema, inner]} for key in ("anyOf", "oneOf", "allOf"))
        yield {**inner, "allOf": [schema]}


def test_a_value_schema_accepts_every_value_that_the_json_schema_accepts() -> None:
    for schema in (*EACH, *(inner for each in EACH[::4] for inner in nested(each))):
        root = {"type": "object", "properties": {"it": schema, "other": {"type": "string"}}, "$defs": DEFINED}
        value = value_schema_of(schema, root)
        shapes.check_value_schema(value.to_json())
        validator = Draft202012Validator(root)
        assert [item for item in POOL if is_valid(validator, {"it": item}) and not accepts(value, item)] == [], schema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"enum": ["x", "y"]}, ValueSchema("string", enum=("x", "y"))),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ValueSchema("integer", nullable=True)),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, ValueSchema(nullable=True)),
        (
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
            ValueSchema("json", properties={"a": ValueSchema("boolean")}, required=("a",)),
        ),
        ({"$ref": "#/$defs/a%20b~1c"}, ValueSchema("string", enum=("x",))),
        ({"$ref": "https://x.example/#/$defs/named"}, ANY_JSON),
    ],
    ids=str,
)
def test_a_value_schema_is_as_narrow_as_it_can_be(schema: Any, expected: ValueSchema) -> None:
    root = {"type": "object", "properties": {"it": schema}, "$defs": DEFINED}
    assert value_schema_of(schema, root) == expected


@pytest.mark.parametrize("kinds", [3, 30])
def test_the_number_and_depth_of_followed_schemas_is_limited(kinds: int) -> None:
    names = [f"t{number}" for number in range(kinds)]
    each = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    value = value_schema_of({"$ref": "#/$defs/t0"}, {"$defs": dict.fromkeys(names, each)})
    assert value.properties
    assert len(json.dumps(value.to_json())) < 1_000_000
    schema: Any = {"type": "string"}
    for _ in range(500):
        schema = {"type": "object", "properties": {"a": schema}}
    shapes.check_value_schema(value_schema_of(schema, {}).to_json())
