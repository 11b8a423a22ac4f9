"""What a tool's own schema accepts, the worker's accepts: widened where it cannot say more, never wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pegboard_plugins.worker.value_schema import ANYTHING, Value, value_of

NAMES = st.sampled_from(["a", "b", "c"])
PLAIN: Any = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "maxLength": 2},
            {"type": "integer", "minimum": 0},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"type": ["string", "null"]},
            {"type": ["integer", "string"]},
            {"const": "x"},
            {"enum": ["x", "y"]},
            {"enum": ["x", None]},
            {"enum": [1, 2]},
            {"enum": ["x", 1, True]},
            {"$ref": "#/$defs/tree"},
            {},
            True,
        ]
    )
)


def around(inner: Any) -> Any:
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda items: {"type": "array", "prefixItems": items, "items": False},
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(lambda members: {"type": "object", "properties": members}, st.dictionaries(NAMES, inner, max_size=3)),
        st.builds(
            lambda members: {"type": "object", "properties": members, "required": sorted(members)},
            st.dictionaries(NAMES, inner, max_size=3),
        ),
        st.builds(lambda rest: {"type": "object", "additionalProperties": rest}, inner),
        st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda options: {"oneOf": options}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
    )


SCHEMAS = st.recursive(PLAIN, around, max_leaves=6)
VALUES: Any = st.recursive(
    st.sampled_from(["x", "y", "long", "", 0, 1, -1, 2.5, True, False, None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TREE = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
}


def accepts(value: Value, given: Any) -> bool:
    """Whether a caller that goes by a value schema would send this."""
    if given is None and value.nullable:
        return True
    if value.type == "json":
        return value.properties is None or (isinstance(given, dict) and has_members(value, given))
    if value.type == "array":
        return isinstance(given, list) and all(accepts(value.items or ANYTHING, one) for one in given)
    if value.type == "string":
        return isinstance(given, str) and (value.enum is None or given in value.enum)
    if value.type == "boolean":
        return isinstance(given, bool)
    whole = isinstance(given, int) or (isinstance(given, float) and given.is_integer())
    return not isinstance(given, bool) and (whole if value.type == "integer" else isinstance(given, int | float))


def has_members(value: Value, given: dict[str, Any]) -> bool:
    members = value.properties or {}
    return set(value.required) <= given.keys() and all(
        accepts(members[name], one) for name, one in given.items() if name in members
    )


@settings(max_examples=600)
@given(SCHEMAS, VALUES)
def test_what_the_schema_accepts_is_accepted(schema: Any, sent: Any) -> None:
    root = {"properties": {"it": schema}, "$defs": {"tree": TREE}}
    value = value_of(schema, root)
    whole = {"properties": {"it": schema}, "$defs": {"tree": TREE}}
    if Draft202012Validator(whole).is_valid({"it": sent}):
        assert accepts(value, sent), value
    shown = value.to_json()
    assert shown["inner_val_type"] in (None, "string", "integer", "number", "boolean", "json")
    assert (shown["val_type"] == "array") == (shown["inner_val_type"] is not None)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "date"}, Value("string")),
        ({"enum": ["x", "y"]}, Value("string", enum=("x", "y"))),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, Value("integer", nullable=True)),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, Value("number")),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, ANYTHING),
        ({"type": "array", "items": {"enum": ["x"]}}, Value("array", items=Value("string", enum=("x",)))),
        ({"type": "array", "items": {"type": "array"}}, Value("array", items=ANYTHING)),
        ({"type": "object"}, ANYTHING),
        (
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
            Value("json", properties={"a": Value("boolean")}, required=("a",)),
        ),
        ({"$ref": "#/$defs/gone"}, ANYTHING),
    ],
)
def test_what_can_be_said_is_said(schema: Any, expected: Value) -> None:
    assert value_of(schema, {"$defs": {}}) == expected
