"""JSON Schemas by authors: accepted and rejected schemas, and the messages about values."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from pegboard.errors import ToolInputSchemaError
from pegboard.schemas.json_schema import MAX_SUBSCHEMA_VISITS, JsonSchema, compile_schema
from pegboard.schemas.subschemas import effort

NEW = "https://json-schema.org/draft/2020-12/schema"
OLD = "http://json-schema.org/draft-07/schema#"
TREE: dict[str, Any] = {
    "$defs": {
        "node": {
            "required": ["kind"],
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"$ref": "#/$defs/node", "required": ["x"]}]}},
        }
    },
    "$ref": "#/$defs/node",
}
"""A schema that refers to itself in two ways, so that errors double with each level."""


def compiled(schema: Any) -> JsonSchema:
    return compile_schema(schema, "its input schema", ToolInputSchemaError)


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


def doubled(levels: int) -> dict[str, Any]:
    """Return a schema whose forms have two forms, and so on."""
    defs: dict[str, Any] = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(levels)}
    return {"$defs": defs | {f"d{levels}": {"type": "object"}}, "$ref": "#/$defs/d0"}


def lines(schema: dict[str, Any], value: Any) -> list[str]:
    """Return the problems of a value as lines, sorted."""
    return sorted(f"{'.'.join(map(str, path))} {text}".strip() for path, text in compiled(schema).problems(value))


@pytest.mark.requirement("SCHEMA-01")
@pytest.mark.parametrize("dialect", [NEW, NEW + "#", OLD, OLD.removesuffix("#")])
def test_two_dialects_are_supported(dialect: str) -> None:
    assert compiled({"$schema": dialect, "type": "object"}).problems({}) == []


@pytest.mark.requirement("SCHEMA-05")
@pytest.mark.parametrize("dialect", ["https://json-schema.org/draft/2019-09/schema", "", 5])
def test_other_dialects_are_rejected_and_the_known_ones_are_named(dialect: Any) -> None:
    schema = {"$schema": dialect, "$id": "https://example.com/x"}
    for tree in (schema, {"properties": {"a": schema}}):
        with pytest.raises(ToolInputSchemaError, match=r"its input schema: its dialect .* is not supported") as error:
            compiled(tree)
        assert NEW in str(error.value)
        assert OLD.removesuffix("#") in str(error.value)


@pytest.mark.requirement("SCHEMA-01", "SCHEMA-04")
def test_the_dialect_decides_what_keywords_mean() -> None:
    pair = {"items": [{"type": "integer"}], "type": "array"}
    assert lines({"$schema": OLD, **pair}, ["x"]) == ["0 must be an integer, got a string"]
    with pytest.raises(ToolInputSchemaError, match="items: must be true or false or an object"):
        compiled(pair)
    modern = {"prefixItems": [{"type": "integer"}]}
    assert lines(modern, ["x"]) == ["0 must be an integer, got a string"]
    assert lines({"$schema": OLD, **modern}, ["x"]) == []
    ref = {"$ref": "#/definitions/a", "maximum": 3, "definitions": {"a": {"type": "integer"}}}
    assert lines(ref, 4) == ["must be at most 3"]
    assert lines({"$schema": OLD, **ref}, 4) == []  # draft-07 knows nothing beside a reference
    # a property called $schema is not a dialect
    assert lines({"properties": {"$schema": {"type": "string"}}, "const": {"$schema": 5}}, {"$schema": 5}) != []


@pytest.mark.requirement("SCHEMA-03")
@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ([], "must be an object"),
        ({"type": "strin"}, r"not valid in its dialect: type: must be one of .*array"),
        ({"required": "a"}, "required: must be a list"),
        ({"properties": {"a": {"minLength": -1}}}, r"properties\.a\.minLength: must be at least 0"),
        ({"$schema": OLD, "dependencies": 5}, "dependencies: must be an object"),
        ({"const": float("nan")}, "which JSON cannot express"),
        ({"enum": [{1, 2}]}, "which JSON cannot express"),
        ({"properties": {1: {}}}, "whose name is not a string"),
    ],
)
def test_invalid_schemas_are_rejected(schema: Any, complaint: str) -> None:
    with pytest.raises(ToolInputSchemaError, match=f"^its input schema: .*{complaint}"):
        compiled(schema)


@pytest.mark.requirement("SCHEMA-06", "SCHEMA-07")
@pytest.mark.parametrize("dialect", [NEW, OLD])
def test_references_lead_into_the_schema_and_nothing_is_retrieved(dialect: str, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        local = f"http://127.0.0.1:{server.getsockname()[1]}/a.json"
        file = (tmp_path / "schema.json").as_uri()
        for ref in (local, file, "https://example.com/a.json", "#/$defs/none", "#none", "other.json", "urn:x"):
            for schema in ({"$ref": ref}, {"items": {"anyOf": [{}, {"$ref": ref}]}}):
                with pytest.raises(ToolInputSchemaError, match="nothing is retrieved") as caught:
                    compiled({"$schema": dialect, **schema})
                assert ref.removeprefix("#") in str(caught.value)
                assert "registry" not in str(caught.value)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_references_inside_the_schema() -> None:
    schema = {
        "$id": "https://example.com/root",
        "$defs": {
            "a": {"$anchor": "here", "type": "string"},
            "b": {"$id": "part", "$defs": {"c": {"type": "integer"}}, "$ref": "#/$defs/c"},
            "sla/sh~": {"type": "null"},
        },
        "properties": {
            "a": {"$ref": "#here"},
            "b": {"$ref": "part"},
            "c": {"$ref": "https://example.com/part#/$defs/c"},
            "d": {"$ref": "#/$defs/sla~1sh~0"},
        },
    }
    wrong = dict.fromkeys("abcd", 1.5)
    kinds = {"a": "a string", "b": "an integer", "c": "an integer", "d": "null"}
    assert lines(schema, wrong) == [f"{name} must be {kind}, got a number" for name, kind in kinds.items()]
    assert lines({"$ref": NEW}, {"type": 5}) != []
    assert lines({"$schema": OLD, "$ref": OLD}, {"type": 5}) != []


@pytest.mark.requirement("SCHEMA-08")
def test_the_size_of_a_schema_is_limited() -> None:
    itself: dict[str, Any] = {}
    itself["properties"] = {"a": itself, "b": itself}
    chain: dict[str, Any] = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(1000)}
    too_large: list[tuple[Any, str]] = [
        (nested(101), "nested deeper than 100 levels"),
        ({"default": json.loads("[" * 200 + "]" * 200)}, "nested deeper than 100 levels"),
        (itself, "nested deeper"),
        ({"properties": {f"p{at}": {} for at in range(5000)}}, "has 5001 subschemas, the limit is 5000"),
        ({"enum": list(range(50_000))}, "has more than 50000 values"),
        ({"$defs": chain | {"d1000": {}}, "$ref": "#/$defs/d0"}, "chain of references is too long"),
        *((doubled(levels), f"subschemas, the limit is {MAX_SUBSCHEMA_VISITS}") for levels in (14, 40, 90)),
    ]
    for schema, complaint in too_large:
        with pytest.raises(ToolInputSchemaError, match=complaint):
            compiled(schema)
    assert compiled(nested(100)).problems(5) == []
    for schema in ({"properties": {f"p{at}": {} for at in range(4000)}}, doubled(10)):
        assert compiled(schema).problems({}) == []


@pytest.mark.parametrize(
    ("schema", "visits", "returns"),
    [
        ({"properties": {"a": {}}, "patternProperties": {"a": {}, "b": {}}}, 4, 0),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, 2, 0),
        ({"items": {"oneOf": [{"$ref": "#"}, {"$ref": "#"}]}}, 4, 2),
        ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}}, 2, 1),
        ({"$id": "#n", "items": {"$ref": "#n"}}, 2, 1),
        ({"$ref": "#/allOf/1", "allOf": [True]}, 3, 2),
        ({"$ref": "#/allOf/x", "allOf": [True]}, 3, 2),
        ({"$ref": NEW}, 2, 2),
        ({"$id": "https://example.com/a", "$defs": {"b": {"$id": "#n"}}, "items": {"$ref": "#n"}}, 3, 0),
    ],
)
def test_the_work_of_a_schema(schema: dict[str, Any], visits: int, returns: int) -> None:
    assert effort(schema) == (visits, returns)


def test_a_recursive_schema_is_checked_fast_and_explained_only_for_small_values() -> None:
    schema = compiled(TREE)
    value: dict[str, Any] = {}
    for _ in range(150):
        value = {"next": value}
    assert schema.problems(value) == [((), "does not fit the schema, and is too large to say where")]
    assert sorted(schema.problems({"next": {}})) == [
        (("kind",), "is required"),
        (("next",), "kind is required, or: kind is required and x is required"),
    ]


def test_very_many_problems_are_not_collected() -> None:
    schema = compiled({"items": {"type": "string"}})
    assert len(schema.problems([1] * 1000)) == 1000
    assert schema.problems([1] * 1_000_000) == [((), "does not fit the schema, and is too large to say where")]


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("(?=a)", "has look-around or backreferences"),
        (r"(a)\1", "has look-around or backreferences"),
        ("(", "is invalid"),
        (r"^[\s\S]{1,5000}$", "is too large; limit lengths with maxLength"),
    ],
)
def test_expressions_that_are_rejected(pattern: str, complaint: str) -> None:
    places: list[dict[str, Any]] = [{"properties": {"a": {"pattern": pattern}}}, {"patternProperties": {pattern: {}}}]
    for schema in places:
        with pytest.raises(ToolInputSchemaError, match=f"the pattern {re.escape(repr(pattern))} ({complaint})"):
            compiled(schema)


@pytest.mark.requirement("SCHEMA-08")
@pytest.mark.parametrize("pattern", ["^(a+)+$", "(.*)*x", "(a?){60}a{60}"])
def test_every_expression_takes_linear_time(pattern: str) -> None:
    """A backtracking engine would exceed the time limit of the test."""
    assert compiled({"pattern": pattern}).problems("a" * 50_000 + "!") != [] or pattern.startswith("(a?)")


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, True, ["must be an integer, got a boolean"]),
        (
            {"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False},
            {"x-a": "b", "y": 1},
            ["x-a must be an integer, got a string", "y is not a parameter of this tool"],
        ),
        ({"type": "integer"}, 1.0, []),
        ({"type": ["string", "null"]}, 1, ["must be null or a string, got an integer"]),
        ({"items": {"type": "boolean"}}, [True, 1], ["1 must be true or false, got an integer"]),
        ({"properties": {"o": {"additionalProperties": False}}}, {"o": {"a": 1}}, ["o.a is not allowed"]),
        ({"properties": {"a": False}}, {"a": 1}, ["a is not allowed"]),
        ({"enum": ["a", 2, None]}, "b", ['must be one of "a", 2, null']),
        ({"enum": ["left", "right", 2]}, "rihgt", ['must be one of "left", "right", 2; did you mean \'right\'?']),
        ({"enum": [*range(30)]}, 30, [f"must be one of {', '.join(map(str, range(20)))} and 10 more"]),
        ({"const": {"a": 1}}, "b", ['must be {"a":1}, got a string']),
        ({"const": "x" * 500}, "b", ['must be "' + "x" * 99 + "..."]),
        ({"minimum": 3}, 2, ["must be at least 3"]),
        ({"multipleOf": 5}, 3, ["must be a multiple of 5"]),
        ({"maxLength": 1}, "ab", ["must have at most 1 character"]),
        ({"minLength": 3}, "ab", ["must have at least 3 characters"]),
        ({"maxProperties": 0}, {"a": 1}, ["must have at most 0 members"]),
        ({"uniqueItems": True}, [1, 1], ["must not contain the same item twice"]),
        ({"contains": {"const": 1}}, [2], ["must contain an item of the required form"]),
        ({"pattern": "^a$"}, "b", ["must match the regular expression ^a$"]),
        ({"not": {"type": "string"}}, "b", ["is of a form that is excluded"]),
        (
            {"propertyNames": {"maxLength": 1}},
            {"ab": 1},
            ["has a member whose name is not allowed: it must have at most 1 character"],
        ),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, ["b is required"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, ["must be a string, or: must be null, got an integer"]),
        (
            {"oneOf": [{"properties": {"k": {"const": "x"}}, "required": ["k", "v"]}, {"type": "null"}]},
            {"k": "y"},
            ['k: must be "x" and v is required, or: must be null, got an object'],
        ),
        ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 5, ["must fit only one of the forms that are allowed"]),
        (
            {"anyOf": [{"const": at} for at in range(9)]},
            9,
            ["must be 0, or: must be 1, or: must be 2, or: must be 3, or: must be 4, or 4 other forms"],
        ),
        ({"format": "date"}, "no date at all", []),
    ],
)
def test_the_messages_of_a_schema(schema: dict[str, Any], value: Any, expected: list[str]) -> None:
    assert lines(schema, value) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.requirement("SCHEMA-11")
def test_the_schema_is_a_copy_of_what_the_author_wrote() -> None:
    schema: dict[str, Any] = {"type": "object", "x-own": [1, 1.0, 2**70, "é", None, {"b": 1, "a": 2}], "properties": {}}
    copied = compiled(schema)
    assert json.dumps(copied.schema) == json.dumps(schema)
    schema["x-own"].clear()
    schema["required"] = ["a"]
    assert copied.schema["x-own"]
    assert copied.problems({}) == []


@settings(max_examples=25)
@given(value=VALUES, old=st.booleans())
def test_an_independent_validator_agrees(value: Any, old: bool) -> None:
    schema: dict[str, Any] = {
        "$schema": OLD if old else NEW,
        "type": ["object", "array", "string", "null"],
        "properties": {"a": {"type": "integer", "minimum": 0}, "b": {"$ref": "#"}},
        "additionalProperties": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "array", "uniqueItems": True}]},
        "items": {"not": {"type": "boolean"}},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "maxItems": 2,
    }
    other = (Draft7Validator if old else Draft202012Validator)(schema)
    assert bool(compiled(schema).problems(value)) == (not other.is_valid(value))


def test_a_value_that_is_not_json_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        compiled({"maxLength": 1}).problems("\ud800")
