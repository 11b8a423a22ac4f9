"""Every kind of parameter that tools take: how clients see it, and what the function gets."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import uuid
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, PositiveInt

from pegboard.plugin import ToolInputError
from pegboard.schemas.signature import compile_signature
from tests.host.sample_types import Box, Cat, Color, Dog, Level, Options, Point, Size, Tree, UserId


def one(annotation: Any) -> Any:
    """The signature of a function with one parameter, `a`, of this type."""

    def function(a: Any) -> None: ...

    function.__annotations__["a"] = annotation
    return compile_signature(function)


ONE_ID = "00000000-0000-0000-0000-000000000001"
CASES: list[tuple[Any, dict[str, Any], list[tuple[Any, Any]], list[Any]]] = [
    # the type, its schema, (what is sent, what arrives), what is refused
    (str, {"type": "string"}, [("x", "x"), ("", "")], [1, None, ["x"]]),
    (int, {"type": "integer"}, [(1, 1), (2**64, 2**64), ("7", 7)], ["x", 1.5, None, []]),
    (float, {"type": "number"}, [(1.5, 1.5), (1, 1.0)], ["x", None]),
    (bool, {"type": "boolean"}, [(True, True), (False, False)], ["perhaps", None, 2]),
    (None, {"type": "null"}, [(None, None)], [0, ""]),
    (Any, {}, [(1, 1), (None, None), ({"a": [1]}, {"a": [1]})], []),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, [("a", "a")], ["c", 1]),
    (Literal[1, 2], {"type": "integer", "enum": [1, 2]}, [(1, 1)], [3, "x"]),
    (Literal["one"], {"type": "string", "const": "one"}, [("one", "one")], ["two"]),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}, [(1, 1), (None, None)], ["x"]),
    (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}, [(1, 1), ("1", "1")], [[]]),
    (int | str | None, {}, [(1, 1), ("1", "1"), (None, None)], [[]]),
    (list, {"type": "array"}, [([1, "a"], [1, "a"])], ["x", {}]),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [([1, 2], [1, 2]), ([], [])], [["x"], "12"]),
    (list[list[str]], {"type": "array"}, [([["a"]], [["a"]])], [["a"]]),
    (set[int], {"type": "array", "uniqueItems": True}, [([1, 2], {1, 2})], ["x"]),
    (tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2}, [([1, "a"], (1, "a"))], [[1], [1, "a", 2]]),
    (tuple[int, ...], {"type": "array"}, [([1, 2, 3], (1, 2, 3))], [["x"]]),
    (dict, {"type": "object"}, [({"a": 1}, {"a": 1})], [[]]),
    (dict[str, int], {"type": "object"}, [({"a": 1}, {"a": 1})], [{"a": "x"}]),
    (dict[str, Any], {"type": "object"}, [({"a": {"b": 1}}, {"a": {"b": 1}})], ["x"]),
    (dict[Color, int], {"type": "object"}, [({"red": 5}, {Color.RED: 5})], [{"blue": 1}]),
    (datetime.date, {"type": "string", "format": "date"}, [("2026-07-28", datetime.date(2026, 7, 28))], ["x"]),
    (
        datetime.datetime,
        {"type": "string", "format": "date-time"},
        [("2026-07-28T10:00:00Z", datetime.datetime(2026, 7, 28, 10, tzinfo=datetime.UTC))],
        ["soon"],
    ),
    (datetime.time, {"type": "string", "format": "time"}, [("10:30:00", datetime.time(10, 30))], ["noon"]),
    (
        datetime.timedelta,
        {"type": "string", "format": "duration"},
        [("P1DT2H", datetime.timedelta(days=1, hours=2))],
        ["long"],
    ),
    (uuid.UUID, {"type": "string", "format": "uuid"}, [(ONE_ID, uuid.UUID(int=1))], ["x"]),
    (decimal.Decimal, {}, [("1.50", decimal.Decimal("1.50")), (2, decimal.Decimal(2))], ["x", "NaN"]),
    (bytes, {"type": "string"}, [("abc", b"abc")], [1]),
    (pathlib.Path, {"type": "string", "format": "path"}, [("a/b", pathlib.Path("a/b"))], [1]),
    (UserId, {"type": "integer"}, [(5, 5)], ["x"]),
    (PositiveInt, {"type": "integer", "exclusiveMinimum": 0}, [(1, 1)], [0]),
    (Annotated[int, Field(ge=1, le=5)], {"type": "integer", "minimum": 1, "maximum": 5}, [(5, 5)], [0, 6]),
    (Annotated[float, Field(multiple_of=0.5)], {"multipleOf": 0.5}, [(1.5, 1.5)], [1.2]),
    (
        Annotated[str, Field(min_length=2, max_length=3)],
        {"minLength": 2, "maxLength": 3},
        [("ab", "ab")],
        ["a", "abcd"],
    ),
    (Annotated[str, Field(pattern="^a+$")], {"pattern": "^a+$"}, [("aa", "aa")], ["b"]),
    (Annotated[list[int], Field(max_length=1)], {"maxItems": 1}, [([1], [1])], [[1, 2]]),
    (Color, {"type": "string", "enum": ["red", "green"]}, [("red", Color.RED)], ["RED", "blue", 1]),
    (Level, {"type": "integer", "enum": [1, 2]}, [(2, Level.HIGH)], [3]),
    (
        Options,
        {"type": "object", "required": ["depth"]},
        [({"depth": 1}, {"depth": 1}), ({"depth": 1, "label": "x"}, {"depth": 1, "label": "x"})],
        [{}, {"depth": 1, "other": 2}, {"depth": "x"}],
    ),
    (
        Size,
        {"type": "object", "required": ["width"]},
        [({"width": 3}, Size(3)), ({"width": 3, "marks": ["a"]}, Size(3, 1, ["a"]))],
        [{}, {"width": "x"}],
    ),
    (Point, {"type": "object", "required": ["x"]}, [({"x": 1}, Point(x=1))], [{"x": -1}, {}, "1,2"]),
    (list[Point], {"type": "array"}, [([{"x": 1}], [Point(x=1)])], [[{"y": 1}]]),
    (dict[str, Point], {"type": "object"}, [({"a": {"x": 1}}, {"a": Point(x=1)})], [{"a": 1}]),
    (Point | None, {}, [({"x": 1}, Point(x=1)), (None, None)], [1]),
    (
        Tree,
        {},
        [({"name": "a", "children": [{"name": "b"}]}, Tree(name="a", children=[Tree(name="b")]))],
        [{"name": "a", "children": [{}]}],
    ),
    (Box[int], {"type": "object"}, [({"content": 1}, Box[int](content=1))], [{"content": "x"}]),
    (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        {},
        [
            ({"kind": "cat", "lives": 9}, Cat(kind="cat", lives=9)),
            ({"kind": "dog", "tricks": []}, Dog(kind="dog", tricks=[])),
        ],
        [{"kind": "cow"}, {"kind": "cat"}],
    ),
]
NAMES = [str(case[0]).replace("<class ", "").replace(">", "") for case in CASES]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the parameter, references followed."""
    found: dict[str, Any] = schema["properties"]["a"]
    while "$ref" in found:
        found = schema["$defs"][found["$ref"].rpartition("/")[2]]
    return found


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_type_is_described_in_the_schema(case: tuple[Any, dict[str, Any], list[Any], list[Any]]) -> None:
    annotation, expected, _, _ = case
    schema = one(annotation).input_schema
    Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["additionalProperties"], schema["required"]) == ("object", False, ["a"])
    found = resolved(schema)
    assert {key: found.get(key) for key in expected} == expected


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_value_arrives_as_its_type(case: tuple[Any, dict[str, Any], list[Any], list[Any]]) -> None:
    annotation, _, accepted, _ = case
    signature = one(annotation)
    for sent, arrives in accepted:
        bound = signature.bind({"a": sent})
        assert bound == {"a": arrives}
        assert type(bound["a"]) is type(arrives)


@pytest.mark.requirement("TOOL-08")
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_the_schema_forbids_is_refused(case: tuple[Any, dict[str, Any], list[Any], list[Any]]) -> None:
    annotation, _, _, refused = case
    signature = one(annotation)
    for sent in refused:
        with pytest.raises(ToolInputError, match=r"^Invalid arguments:\na"):
            signature.bind({"a": sent})


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_is_accepted_fits_the_schema_that_clients_see(
    case: tuple[Any, dict[str, Any], list[Any], list[Any]],
) -> None:
    annotation, _, accepted, _ = case
    validator = Draft202012Validator(one(annotation).input_schema)
    lenient = {("7", 7)}  # a number as text is taken, and not advertised
    for sent, arrives in accepted:
        if not (isinstance(sent, str) and (sent, arrives) in lenient):
            validator.validate({"a": sent})


def test_no_schema_carries_the_titles_that_say_nothing() -> None:
    def function(some_name: int, point: Point, tree: list[Tree]) -> None: ...

    signature = compile_signature(function)
    assert "title" not in signature.input_schema
    assert "title" not in signature.input_schema["properties"]["some_name"]
    assert "title" not in signature.input_schema["$defs"]["Point"]["properties"]["x"]


def test_the_schema_of_a_recursive_model_is_finite() -> None:
    def function(tree: Tree) -> None: ...

    schema = compile_signature(function).input_schema
    assert schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}


class Strict(BaseModel, extra="forbid"):
    x: int


def test_a_models_own_rules_hold() -> None:
    def strict(a: Strict, b: Point) -> None: ...

    signature = compile_signature(strict)
    assert signature.bind({"a": {"x": 1}, "b": {"x": 1, "more": 2}}) == {"a": Strict(x=1), "b": Point(x=1)}
    with pytest.raises(ToolInputError, match=r"a\.more is not allowed"):
        signature.bind({"a": {"x": 1, "more": 2}, "b": {"x": 1}})
