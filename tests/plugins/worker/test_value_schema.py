"""What a tool's own schema accepts, the worker's accepts: widened where it cannot say more, never wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from pydantic import BaseModel
from referencing.exceptions import Unresolvable
from typing_extensions import NotRequired, TypedDict

from pegboard import Toolkit
from pegboard_plugins.worker.tool_definitions import tool_definition
from pegboard_plugins.worker.value_schema import ANY_JSON, ValueSchema, value_schema_of
from tests.host.hosting import make_host
from tests.plugins.worker import shapes

NAMES = st.sampled_from(["a", "b", "c"])
TEXTS = ["x", "y", "long", ""]
NUMBERS = [0, 1, -1, 7, 2.5, 1.0]
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
    "#/$defs/tree",
    "#/$defs/left",
    "#/$defs/right",
    "#/$defs/a%20b~1c",
    "#/$defs/named",
    "#named",
    "#/$defs/apart",
    "#/properties/other",
    "#",
]
CONSTANTS: Any = st.sampled_from([*TEXTS, *NUMBERS, True, False, None, ["x"], {"a": 1}])
PLAIN: Any = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "maxLength": 2, "description": "a text"},
            {"type": "integer", "minimum": 0},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"type": "array"},
            {"type": "object"},
            {"type": ["string", "null"]},
            {"type": ["integer", "string"]},
            {"type": ["integer", "number", "null"]},
            {"type": ["array", "object"], "items": {"type": "string"}, "properties": {"a": {"type": "string"}}},
            {"type": ["object", "null"], "properties": {"a": {"type": "string"}}, "required": ["a", "z"]},
            {"properties": {"a": {"type": "string"}}, "items": {"type": "string"}},
            {"type": "object", "properties": {}, "additionalProperties": False},
            {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "properties": {"a": {}}},
            {"not": {"type": "string"}},
            {"if": {"type": "string"}, "then": {"const": "x"}, "else": {"type": "integer"}},
            {"minimum": 1},
            {},
            True,
            False,
        ]
    ),
    st.builds(lambda value: {"const": value}, CONSTANTS),
    st.builds(lambda values: {"enum": values}, st.lists(CONSTANTS, min_size=1, max_size=4)),
    st.builds(lambda values: {"type": "string", "enum": values}, st.lists(CONSTANTS, min_size=1, max_size=4)),
    st.builds(
        lambda first, most: {"type": "array", "prefixItems": first, "maxItems": most},
        st.lists(st.sampled_from([{"type": "integer"}, {"type": "string"}]), min_size=1, max_size=3),
        st.integers(0, 4),
    ),
    st.builds(lambda place: {"$ref": place}, st.sampled_from(REFERENCES)),
    st.builds(lambda place: {"$ref": place, "type": "string"}, st.sampled_from(REFERENCES)),
)


def around(inner: Any) -> Any:
    """Schemas that hold others."""
    members = st.dictionaries(NAMES, inner, max_size=3)
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda items: {"type": "array", "prefixItems": items, "items": False}, several),
        st.builds(lambda items, rest: {"type": "array", "prefixItems": items, "items": rest}, several, inner),
        st.builds(lambda one: {"type": "array", "contains": one}, inner),
        st.builds(lambda members: {"type": "object", "properties": members}, members),
        st.builds(
            lambda members: {"type": "object", "properties": members, "required": [*sorted(members), "a"]}, members
        ),
        st.builds(lambda rest: {"type": "object", "additionalProperties": rest}, inner),
        st.builds(
            lambda members, options: {"type": "object", "properties": members, "anyOf": options}, members, several
        ),
        st.builds(lambda options: {"anyOf": options}, several),
        st.builds(lambda options: {"oneOf": options}, several),
        st.builds(lambda options, parts: {"anyOf": options, "allOf": parts}, several, several),
        st.builds(lambda parts: {"allOf": parts}, several),
        st.builds(lambda part, own: {**own, "allOf": [part]} if isinstance(own, dict) else own, inner, inner),
        st.builds(lambda one: {"not": one}, inner),
        st.builds(lambda one: {"$id": "https://x.example/inner", "type": "object", "properties": {"a": one}}, inner),
    )


SCHEMAS = st.recursive(PLAIN, around, max_leaves=6)
VALUES: Any = st.recursive(
    st.sampled_from([*TEXTS, *NUMBERS, True, False, None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def fitting(draw: st.DrawFn, schema: Any, depth: int = 0) -> Any:
    """A value that may well fit a schema; any value where that is hard to say."""
    if not isinstance(schema, dict) or depth > 4:
        return draw(VALUES)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return draw(fitting(draw(st.sampled_from(schema[key])), depth + 1))
    if "$ref" in schema:
        place = schema["$ref"].rpartition("/")[2].replace("%20", " ").replace("~1", "/")
        return draw(fitting(DEFINED.get(place, {}), depth + 1))
    if "const" in schema or "enum" in schema:
        return draw(st.sampled_from([schema["const"]] if "const" in schema else schema["enum"]))
    kinds = schema.get("type", "object" if "properties" in schema else None)
    kind = draw(st.sampled_from(kinds)) if isinstance(kinds, list) else kinds
    if kind == "array":
        first = [draw(fitting(one, depth + 1)) for one in schema.get("prefixItems", ())]
        rest = schema.get("items", schema.get("contains", True))
        return first + (draw(st.lists(fitting(rest, depth + 1), max_size=2)) if rest is not False else [])
    if kind == "object":
        members = schema.get("properties", {})
        chosen = {
            name: one for name, one in members.items() if name in schema.get("required", ()) or draw(st.booleans())
        }
        more = draw(st.dictionaries(NAMES, fitting(schema.get("additionalProperties", {}), depth + 1), max_size=1))
        return more | {name: draw(fitting(one, depth + 1)) for name, one in chosen.items()}
    simple: dict[Any, list[Any]] = {
        "string": TEXTS,
        "integer": NUMBERS,
        "number": NUMBERS,
        "boolean": [True, False],
        "null": [None],
    }
    return draw(st.sampled_from(simple[kind]) if kind in simple else VALUES)


def is_valid(validator: Any, given: Any) -> bool:
    """Whether a value fits a schema; none fits one whose references lead nowhere, or round in a circle."""
    try:
        return bool(validator.is_valid(given))
    except (Unresolvable, RecursionError):
        return False


def accepts(value: ValueSchema, given: Any) -> bool:
    """Whether a caller that goes by a value schema would send this."""
    if given is None and value.nullable:
        return True
    if value.type == "json":
        return value.properties is None or (isinstance(given, dict) and has_members(value, given))
    if value.type == "array":
        return isinstance(given, list) and all(accepts(value.items or ANY_JSON, one) for one in given)
    if value.type == "string":
        return isinstance(given, str) and (value.enum is None or given in value.enum)
    if value.type == "boolean":
        return isinstance(given, bool)
    whole = isinstance(given, int) or (isinstance(given, float) and given.is_integer())
    return not isinstance(given, bool) and (whole if value.type == "integer" else isinstance(given, int | float))


def has_members(value: ValueSchema, given: dict[str, Any]) -> bool:
    members = value.properties or {}
    return set(value.required) <= given.keys() and all(
        accepts(members[name], one) for name, one in given.items() if name in members
    )


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_value_schema_accepts_every_value_that_the_json_schema_accepts(data: st.DataObject) -> None:
    schema, other = data.draw(SCHEMAS, "schema"), data.draw(SCHEMAS, "other")
    root = {"type": "object", "properties": {"it": schema, "other": other}, "$defs": DEFINED}
    value = value_schema_of(schema, root)
    shapes.check_value_schema(value.to_json())
    validator = Draft202012Validator(root)
    for strategy in (VALUES, fitting(schema), fitting(schema)):
        sent = data.draw(strategy, "sent")
        if is_valid(validator, {"it": sent}):
            assert accepts(value, sent), value


INNER: list[Any] = [{"type": "string"}, {"type": ["integer", "null"]}, {"type": "array", "items": {"type": "string"}}]
EACH: list[Any] = [
    *({"type": kind} for kind in ("string", "integer", "number", "boolean", "null", "array", "object")),
    *({"type": [one, two]} for one in ("string", "array", "object") for two in ("null", "integer", "boolean")),
    *({"const": value} for value in (*TEXTS, *NUMBERS, True, None, ["x"], {"a": 1})),
    *(
        {"enum": values}
        for values in (["x", None], [1, 2], [1, 2.5], ["x", 1], [True, None], [True, 1], [["x"]], [None])
    ),
    *({"$ref": place, **more} for place in REFERENCES for more in ({}, {"type": "string"})),
    *({"type": "array", "prefixItems": [one], "items": two} for one in INNER for two in (*INNER, False, True)),
    *({"type": "array", "prefixItems": INNER, "maxItems": most} for most in (0, 2, 3, 4)),
    *({"type": "object", "properties": {"a": one}, "required": ["a", "z"]} for one in (*INNER, False, True)),
    *({"type": "object", "properties": {}, "additionalProperties": one} for one in (*INNER, False, True)),
    *({key: [one, two]} for key in ("anyOf", "oneOf", "allOf") for one in INNER for two in (*INNER, {"type": "null"})),
    *({"type": "array", "items": {key: INNER}} for key in ("anyOf", "oneOf", "allOf")),
    {"anyOf": [{"const": None}, {"enum": ["x", None]}]},
    {"anyOf": [{"enum": ["x", "y"]}, {"type": "string"}]},
    {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
    {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"minProperties": 1}]},
]
PARTS = [*TEXTS, *NUMBERS, True, False, None]
POOL: list[Any] = [
    *PARTS,
    [],
    {},
    *([one] for one in (*PARTS, ["x"], {"a": 1})),
    *([one, two] for one in ("x", 1, None, ["x"]) for two in ("x", 1, None, ["x"])),
    ["x", None, ["x"], "x"],
    *({"a": one} for one in (*PARTS, ["x"], {"a": "x"}, {"a": None}, [{"a": "x"}])),
    *({"a": one, "z": 1} for one in ("x", 1, None, ["x"])),
    {"a": "x", "b": [{"a": "y", "b": []}]},
    {"it": "x"},
    {"other": 1},
]


def test_each_keyword_accepts_every_value_that_the_json_schema_accepts() -> None:
    for schema in EACH:
        root = {"type": "object", "properties": {"it": schema, "other": {"type": "string"}}, "$defs": DEFINED}
        value = value_schema_of(schema, root)
        shapes.check_value_schema(value.to_json())
        validator = Draft202012Validator(root)
        assert [one for one in POOL if is_valid(validator, {"it": one}) and not accepts(value, one)] == [], schema


def test_older_drafts_are_read_too() -> None:
    """`items` may be a list there, `$id` may be a fragment, and `$ref` hides its neighbours."""
    pair = {"$id": "#pair", "type": "array", "items": [{"type": "string"}, {"type": "integer"}]}
    old: Any = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "definitions": {"pair": pair}}
    for schema in (
        pair,
        {**pair, "additionalItems": False},
        {"$ref": "#/definitions/pair", "type": "string"},
        {"$ref": "#pair", "type": "string"},
        {"type": "object", "properties": {"a": {"$ref": "#pair"}}, "dependencies": {"a": ["b"]}},
    ):
        root = {**old, "properties": {"it": schema}}
        value = value_schema_of(schema, root)
        for sent in (*POOL, ["x", 1], ["x", 1, None], {"a": ["x", 1], "b": 1}):
            assert not is_valid(Draft7Validator(root), {"it": sent}) or accepts(value, sent), (schema, value)


# --- types as authors write them


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Part(TypedDict):
    city: str
    code: NotRequired[int | None]


class Leaf(BaseModel):
    kind: Literal["leaf"]


class Branch(BaseModel):
    kind: Literal["branch"]
    leaves: list[Leaf]
    next: Branch | None = None


class Nothing(BaseModel):
    pass


def definition_for(annotation: Any) -> Any:
    """Return the definition of a tool with a parameter of this type."""
    kit = Toolkit("kit")

    def take(it: Any) -> None:
        """Take it."""

    take.__annotations__ = {"it": annotation, "return": None}
    kit.tool(take)
    host = make_host(kit)
    assert host.load().problems == ()
    return tool_definition(host.assembly.tools["kit_take"].tool)


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (list[list[int]], {"val_type": "array", "inner_val_type": "json"}),
        (list[Color], {"val_type": "array", "inner_val_type": "string", "enum": ["red", "blue"]}),
        (list[str] | None, {"val_type": "array", "inner_val_type": "string", "nullable": True}),
        (list[int | None], {"val_type": "array", "inner_val_type": "json"}),
        (list[Part], {"val_type": "array", "inner_val_type": "json", "inner_required_keys": ["city"]}),
        (int | str, {"val_type": "json"}),
        (int | float, {"val_type": "number"}),
        (Nothing, {"val_type": "json", "properties": {}, "required_keys": []}),
        (dict[str, Any], {"val_type": "json"}),
        (Level, {"val_type": "integer"}),
        (tuple[int, int], {"val_type": "array", "inner_val_type": "integer"}),
        (Point, {"val_type": "array", "inner_val_type": "number"}),
        (Leaf | Branch, {"val_type": "json"}),
        (Branch, {"val_type": "json", "required_keys": ["kind", "leaves"]}),
        (Literal["a", "b"] | None, {"val_type": "string", "enum": ["a", "b"], "nullable": True}),
        (date, {"val_type": "string"}),
        (Decimal | None, {"val_type": "json"}),
        (bytes, {"val_type": "string"}),
    ],
    ids=str,
)
def test_types_are_described_as_well_as_a_value_schema_can(annotation: Any, told: dict[str, Any]) -> None:
    definition = definition_for(annotation)
    shapes.check_value(shapes.DEFINITION, definition)
    (parameter,) = definition["input"]["parameters"]
    shapes.check_value_schema(parameter["value_schema"])
    shown = {name: one for name, one in parameter["value_schema"].items() if one is not None}
    left_out = {"properties", "inner_properties"} - told.keys()
    assert {name: one for name, one in shown.items() if name not in left_out} == told


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "date"}, ValueSchema("string")),
        ({"enum": ["x", "y"]}, ValueSchema("string", enum=("x", "y"))),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ValueSchema("integer", nullable=True)),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, ValueSchema("number")),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, ANY_JSON),
        ({"type": "array", "items": {"enum": ["x"]}}, ValueSchema("array", items=ValueSchema("string", enum=("x",)))),
        ({"type": "array", "items": {"type": "array"}}, ValueSchema("array", items=ANY_JSON)),
        ({"type": "object"}, ANY_JSON),
        (
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
            ValueSchema("json", properties={"a": ValueSchema("boolean")}, required=("a",)),
        ),
        (
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "anyOf": [{"required": ["a"]}]},
            ValueSchema("json", properties={"a": ValueSchema("boolean")}),
        ),
        ({"type": "integer", "allOf": [{"minimum": 1}]}, ValueSchema("integer")),
        ({"$ref": "#/$defs/a%20b~1c"}, ValueSchema("string", enum=("x",))),
        ({"$ref": "#/$defs/gone"}, ANY_JSON),
        ({"$ref": "#named"}, ANY_JSON),
        ({"$ref": "#named", "type": "integer"}, ValueSchema("integer")),
        ({"$ref": "https://x.example/#/$defs/named"}, ANY_JSON),
        ({"$ref": "#/$defs/apart"}, ANY_JSON),
        (
            {"$ref": "#/$defs/tree"},
            ValueSchema("json", properties={"a": ValueSchema("string"), "b": ValueSchema("array", items=ANY_JSON)}),
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
            ValueSchema("json", properties={"a": ValueSchema("string")}),
        ),
        ({"type": "object", "properties": {}}, ValueSchema("json", properties={})),
        ({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}, ANY_JSON),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 1},
            ValueSchema("array", items=ValueSchema("string")),
        ),
        ({"type": ["integer", "number"]}, ValueSchema("number")),
    ],
    ids=str,
)
def test_a_value_schema_is_as_narrow_as_it_can_be(schema: Any, expected: ValueSchema) -> None:
    root = {"type": "object", "properties": {"it": schema}, "$defs": DEFINED}
    assert value_schema_of(schema, root) == expected


@pytest.mark.parametrize("kinds", [3, 9, 30])
def test_the_number_of_followed_schemas_is_limited(kinds: int) -> None:
    names = [f"t{number}" for number in range(kinds)]
    each = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    value = value_schema_of({"$ref": "#/$defs/t0"}, {"$defs": dict.fromkeys(names, each)})
    assert value.properties
    assert len(json.dumps(value.to_json())) < 1_000_000


def test_the_depth_of_followed_schemas_is_limited() -> None:
    schema: Any = {"type": "string"}
    for _ in range(500):
        schema = {"type": "object", "properties": {"a": schema}}
    shapes.check_value_schema(value_schema_of(schema, {}).to_json())
