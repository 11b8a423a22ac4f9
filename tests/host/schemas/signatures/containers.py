"""Signatures of containers, of containers too."""

from __future__ import annotations

import collections
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, DefaultDict, Deque, Dict, FrozenSet, List, Literal, OrderedDict, Tuple

import annotated_types as at
from pydantic import Field, Json, conlist

from tests.host.schemas.signatures.table import absent, bad, lax, ok, picky, takes
from tests.host.schemas.signatures.types_of_tests import Color, JsonValue, Level, Point, Right

CASES = [
    takes(
        list,
        {"items": {}, "type": "array"},
        ok([1, "a"], "[1, 'a']"),
        bad({}, "a: must be a list"),
        bad("ab", "a: must be a list"),
    ),
    takes(
        list[int],
        {"items": {"type": "integer"}, "type": "array"},
        ok([1, 2], "[1, 2]"),
        ok([], "[]"),
        lax(["1"], "[1]"),
        bad(["x", 1, None], "a.0: must be an integer\na.2: must be an integer"),
        bad([True], "a.0: must be an integer, not true or false"),
        bad(1, "a: must be a list"),
    ),
    takes(
        List[str], {"items": {"type": "string"}, "type": "array"}, ok(["a"], "['a']"), bad([1], "a.0: must be a string")
    ),
    takes(
        list[list[list[int]]],
        {"items": {"items": {"items": {"type": "integer"}, "type": "array"}, "type": "array"}, "type": "array"},
        ok([[[1]]], "[[[1]]]"),
        bad([[["x"]]], "a.0.0.0: must be an integer"),
        bad([[1]], "a.0.0: must be a list"),
    ),
    takes(
        list[int | None],
        {"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "type": "array"},
        ok([1, None], "[1, None]"),
        bad(["x"], "a.0: must be an integer"),
    ),
    takes(list[Any], {"items": {}, "type": "array"}, ok([1, [None]], "[1, [None]]")),
    takes(
        list[Color],
        {"items": {"$ref": "#/$defs/Color"}, "type": "array"},
        ok(["red"], "[<Color.RED: 'red'>]"),
        bad(["x"], "a.0: must be 'red' or 'blue'"),
        defs={"Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"}},
    ),
    takes(
        list[Literal["a", "b"]],
        {"items": {"enum": ["a", "b"], "type": "string"}, "type": "array"},
        ok(["a"], "['a']"),
        bad(["c"], "a.0: must be 'a' or 'b'"),
    ),
    takes(
        list[dict[str, list[int]]],
        {
            "items": {"additionalProperties": {"items": {"type": "integer"}, "type": "array"}, "type": "object"},
            "type": "array",
        },
        ok([{"a": [1]}], "[{'a': [1]}]"),
        bad([{"a": ["x"]}], "a.0.a.0: must be an integer"),
    ),
    takes(
        Annotated[list[int], Field(min_length=1, max_length=2)],
        {"items": {"type": "integer"}, "maxItems": 2, "minItems": 1, "type": "array"},
        ok([1], "[1]"),
        bad([], "a: must have at least 1 item"),
        bad([1, 2, 3], "a: must have at most 2 items"),
        name="limited list",
    ),
    takes(
        list[Annotated[int, Field(ge=1)]],
        {"items": {"minimum": 1, "type": "integer"}, "type": "array"},
        ok([1], "[1]"),
        bad([1, 0], "a.1: must be at least 1"),
        name="list of limited",
    ),
    takes(
        conlist(int, min_length=1),
        {"items": {"type": "integer"}, "minItems": 1, "type": "array"},
        ok([1], "[1]"),
        bad([], "a: must have at least 1 item"),
        name="conlist",
    ),
    takes(
        Annotated[list[str], at.MaxLen(1)],
        {"items": {"type": "string"}, "maxItems": 1, "type": "array"},
        ok(["a"], "['a']"),
        bad(["a", "b"], "a: must have at most 1 item"),
        name="MaxLen",
    ),
    takes(
        set[int],
        {"items": {"type": "integer"}, "type": "array", "uniqueItems": True},
        ok([1], "{1}"),
        lax([1, 1], "{1}"),
        bad(["x"], "a.0: must be an integer"),
    ),
    takes(
        frozenset[str],
        {"items": {"type": "string"}, "type": "array", "uniqueItems": True},
        ok(["a"], "frozenset({'a'})"),
        bad([1], "a.0: must be a string"),
    ),
    takes(
        FrozenSet[Level],
        {"items": {"$ref": "#/$defs/Level"}, "type": "array", "uniqueItems": True},
        ok([2], "frozenset({<Level.HIGH: 2>})"),
        bad([3], "a.0: must be 1 or 2"),
        defs={"Level": {"enum": [1, 2], "title": "Level", "type": "integer"}},
    ),
    takes(
        AbstractSet[int],
        {"items": {"type": "integer"}, "type": "array", "uniqueItems": True},
        ok([1], "frozenset({1})"),
        bad("x", "a: must be a list"),
    ),
    takes(
        set,
        {"items": {}, "type": "array", "uniqueItems": True},
        ok(["a"], "{'a'}"),
        picky([[1]], "a.0: must hold no lists and objects"),
    ),
    takes(tuple, {"items": {}, "type": "array"}, ok([1, "a"], "(1, 'a')")),
    takes(
        tuple[int, ...],
        {"items": {"type": "integer"}, "type": "array"},
        ok([1, 2], "(1, 2)"),
        ok([], "()"),
        bad(["x"], "a.0: must be an integer"),
    ),
    takes(
        tuple[int, str],
        {"maxItems": 2, "minItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}], "type": "array"},
        ok([1, "a"], "(1, 'a')"),
        bad([1], "a.1 is required"),
        bad([1, "a", 2], "a: must have at most 2 items"),
        bad(["x", "a"], "a.0: must be an integer"),
    ),
    takes(
        Tuple[float, float],
        {"maxItems": 2, "minItems": 2, "prefixItems": [{"type": "number"}, {"type": "number"}], "type": "array"},
        ok([1, 2.5], "(1.0, 2.5)"),
        bad([1, True], "a.1: must be a number, not true or false"),
    ),
    takes(
        tuple[()],
        {"maxItems": 0, "minItems": 0, "type": "array"},
        ok([], "()"),
        bad([1], "a: must have at most 0 items"),
    ),
    takes(
        list[tuple[str, int]],
        {
            "items": {
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"type": "string"}, {"type": "integer"}],
                "type": "array",
            },
            "type": "array",
        },
        ok([["a", 1]], "[('a', 1)]"),
        bad([["a"]], "a.0.1 is required"),
    ),
    takes(
        collections.deque[int],
        {"items": {"type": "integer"}, "type": "array"},
        ok([1], "deque([1])"),
        bad(["x"], "a.0: must be an integer"),
    ),
    takes(Deque[str], {"items": {"type": "string"}, "type": "array"}, ok(["a"], "deque(['a'])")),
    takes(
        Sequence[int],
        {"items": {"type": "integer"}, "type": "array"},
        ok([1], "[1]"),
        bad("12", "a: must be a list"),
        bad({}, "a: must be a list"),
    ),
    takes(MutableSequence[int], {"items": {"type": "integer"}, "type": "array"}, ok([1], "[1]")),
    takes(
        dict,
        {"additionalProperties": True, "type": "object"},
        ok({"a": 1}, "{'a': 1}"),
        bad([], "a: must be an object"),
    ),
    takes(
        dict[str, int],
        {"additionalProperties": {"type": "integer"}, "type": "object"},
        ok({"a": 1}, "{'a': 1}"),
        bad({"a": "x"}, "a.a: must be an integer"),
        bad({"a": True}, "a.a: must be an integer, not true or false"),
        bad([], "a: must be an object"),
    ),
    takes(Dict[str, Any], {"additionalProperties": True, "type": "object"}, ok({"a": [1]}, "{'a': [1]}")),
    takes(
        dict[str, dict[str, bool]],
        {"additionalProperties": {"additionalProperties": {"type": "boolean"}, "type": "object"}, "type": "object"},
        ok({"a": {"b": True}}, "{'a': {'b': True}}"),
        bad({"a": {"b": 5}}, "a.a.b: must be true or false"),
    ),
    takes(
        dict[int, str],
        {"additionalProperties": {"type": "string"}, "type": "object"},
        ok({"1": "a"}, "{1: 'a'}"),
        picky({"x": "a"}, "a.x: the name must be an integer"),
    ),
    takes(
        dict[Color, int],
        {"additionalProperties": {"type": "integer"}, "propertyNames": {"$ref": "#/$defs/Color"}, "type": "object"},
        ok({"red": 1}, "{<Color.RED: 'red'>: 1}"),
        bad({"green": 1}, "a.green: the name must be 'red' or 'blue'"),
        defs={"Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"}},
    ),
    takes(
        dict[Level, int],
        {"additionalProperties": {"type": "integer"}, "propertyNames": {"enum": ["1", "2"]}, "type": "object"},
        ok({"2": 1}, "{<Level.HIGH: 2>: 1}"),
        bad({"3": 1}, "a.3: the name must be 1 or 2"),
    ),
    takes(
        dict[Literal["a", "b"], int],
        {"additionalProperties": {"type": "integer"}, "propertyNames": {"enum": ["a", "b"]}, "type": "object"},
        ok({"a": 1}, "{'a': 1}"),
        bad({"c": 1}, "a.c: the name must be 'a' or 'b'"),
    ),
    takes(
        dict[Annotated[str, Field(pattern="^[a-z]$")], int],
        {"patternProperties": {"^[a-z]$": {"type": "integer"}}, "type": "object"},
        ok({"a": 1}, "{'a': 1}"),
        picky({"A": 1}, "a.A: the name must match the regular expression ^[a-z]$"),
        name="dict with a pattern",
    ),
    takes(
        Annotated[dict[str, int], Field(max_length=1)],
        {"additionalProperties": {"type": "integer"}, "maxProperties": 1, "type": "object"},
        ok({"a": 1}, "{'a': 1}"),
        bad({"a": 1, "b": 2}, "a: must have at most 1 item"),
        name="limited dict",
    ),
    takes(
        Mapping[str, int],
        {"additionalProperties": {"type": "integer"}, "type": "object"},
        ok({"a": 1}, "{'a': 1}"),
        bad([], "a: must be an object"),
    ),
    takes(
        MutableMapping[str, Point],
        {"additionalProperties": {"$ref": "#/$defs/Point"}, "type": "object"},
        ok({"a": {"x": 1}}, "{'a': Point(x=1, y=0)}"),
        bad({"a": {"x": -1}}, "a.a.x: must be at least 0"),
        defs={
            "Point": {
                "description": "A point.",
                "properties": {
                    "x": {"description": "to the right", "minimum": 0, "type": "integer"},
                    "y": {"default": 0, "type": "integer"},
                },
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
    ),
    takes(
        OrderedDict[str, int],
        {"additionalProperties": {"type": "integer"}, "type": "object"},
        ok({"b": 1, "a": 2}, repr(collections.OrderedDict({"b": 1, "a": 2}))),
        bad({"a": "x"}, "a.a: must be an integer"),
    ),
    takes(
        DefaultDict[str, list[int]],
        {"additionalProperties": {"items": {"type": "integer"}, "type": "array"}, "type": "object"},
        ok({"a": [1]}, "defaultdict(<class 'list'>, {'a': [1]})"),
        bad({"a": 1}, "a.a: must be a list"),
    ),
    takes(
        collections.Counter[str],
        {"additionalProperties": {"type": "integer"}, "type": "object"},
        ok({"a": 2}, "Counter({'a': 2})"),
        bad({"a": "x"}, "a.a: must be an integer"),
    ),
    takes(
        list[Right],
        {"items": {"$ref": "#/$defs/Right"}, "type": "array"},
        ok([3], "[<Right.READ|WRITE: 3>]"),
        bad([9], "a.0: must be 1, 2 or 4"),
        defs={"Right": {"maximum": 7, "minimum": 0, "title": "Right", "type": "integer"}},
    ),
    takes(
        Json[list[int]],
        {
            "contentMediaType": "application/json",
            "contentSchema": {"items": {"type": "integer"}, "type": "array"},
            "type": "string",
        },
        ok("[1]", "[1]"),
        picky("[", "a: must be JSON in a string"),
        picky('["x"]', "a: must be an integer"),
        bad([1], "a: must be JSON in a string"),
        name="Json",
    ),
    takes(
        JsonValue,
        {"$ref": "#/$defs/JsonValue"},
        ok({"a": [1, None, {"b": "c"}]}, "{'a': [1, None, {'b': 'c'}]}"),
        bad(
            1.5,
            "a: must be an integer without a fraction, or: must be a string, or: must be a list, or: must be an object",
        ),
        name="a recursive alias",
        defs={
            "JsonValue": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "string"},
                    {"items": {"$ref": "#/$defs/JsonValue"}, "type": "array"},
                    {"additionalProperties": {"$ref": "#/$defs/JsonValue"}, "type": "object"},
                    {"type": "null"},
                ]
            }
        },
    ),
    takes(
        list[int],
        {"default": [1], "items": {"type": "integer"}, "type": "array"},
        absent("[1]"),
        ok([2], "[2]"),
        name="list by default",
        default=[1],
    ),
    takes(
        dict[str, int],
        {"additionalProperties": {"type": "integer"}, "default": {"a": 1}, "type": "object"},
        absent("{'a': 1}"),
        name="dict by default",
        default={"a": 1},
    ),
    takes(
        set[int],
        {"default": [1], "items": {"type": "integer"}, "type": "array", "uniqueItems": True},
        absent("{1}"),
        name="set by default",
        default={1},
    ),
]
