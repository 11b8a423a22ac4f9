"""The messages of invalid arguments: one short line for each field, in plain words, without the value."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretStr, UrlConstraints, model_validator
from pydantic_core import PydanticCustomError, PydanticKnownError, Url, core_schema

from pegboard import ToolInputError
from pegboard.messages.error_words import words
from pegboard.schemas.signature import compile_signature
from tests.host.schemas.signatures.types_of_tests import Cat, Color, Dog, Options, Spot, Tree

CANARY = "canary7f3a91"

LIMITS = {
    "gt": 1, "ge": 1.0, "lt": 1, "le": 1, "multiple_of": 2, "min_length": 1, "max_length": 2, "actual_length": 3,
    "max_digits": 3, "decimal_places": 1, "whole_digits": 1, "expected_version": 4, "tz_expected": 60, "tz_actual": 7,
    "field_type": "List", "pattern": "^a$", "expected": "'a' or 'b'", "class_name": "X", "class": "X",
    "discriminator": "'kind'", "expected_tags": "'a', 'b'", "encoding": "utf-8", "method_name": "m",
    "expected_schemes": "'http'", "attribute": "a",
}  # fmt: skip
ECHOES = dict.fromkeys(("error", "tag", "encoding_error"), CANARY)


def detail(kind: str) -> dict[str, Any]:
    context = LIMITS | ECHOES
    try:
        message = PydanticKnownError(kind, None).message()  # type: ignore[arg-type]
    except TypeError:
        message = PydanticKnownError(kind, context).message()  # type: ignore[arg-type]
    return {"type": kind, "loc": ("a",), "msg": message, "input": CANARY, "ctx": context}


def test_every_error_of_pydantic_has_plain_words() -> None:
    kinds = get_args(core_schema.ErrorType)
    assert len(kinds) > 100
    for kind in kinds:
        assert words({"type": kind, "loc": (), "msg": "message", "input": 1})  # without a context
        text = words(detail(kind))
        if kind not in ("value_error", "assertion_error"):
            assert text != detail(kind)["msg"], kind
            assert re.match(r"(must|is|has|cannot|depends) ", text), text
            assert len(text) < 90
        assert not re.search(r"input|python|pydantic|https?://docs|instance|dict|tuple|None|\{|canary", text, re.I)
    assert words(detail("string_too_short")) == "must have at least 1 character"
    assert words(detail("string_too_long")) == "must have at most 2 characters"
    assert words(detail("greater_than_equal")) == "must be at least 1"


class Exact(BaseModel, extra="forbid"):
    depth: int = 1
    inner: list[Exact] = []


class Row(BaseModel):
    number: float | None = None
    inner: list[int] = []


class OpenRow(Row, extra="allow"):
    __pydantic_extra__: dict[str, int]


class Account(BaseModel):
    number: int
    notes: list[str] = []

    @model_validator(mode="after")
    def check(self) -> Account:
        raise ValueError(
            f"no account {self.number}, with {self.notes[0]!r} and {self.notes}; a number like 12 is short"
        )


def raising(error: Callable[[Any], Exception]) -> Any:
    def check(value: Any) -> Any:
        raise error(value)

    return Annotated[str, AfterValidator(check)]


def message(annotation: Any, value: Any) -> str:
    def function(a: Any) -> None: ...

    function.__annotations__["a"] = annotation
    with pytest.raises(ToolInputError) as caught:
        compile_signature(function).bind({"a": value})
    return caught.value.message.removeprefix("Invalid arguments:\n")


Secure = Annotated[Url, UrlConstraints(allowed_schemes=["https"])]
INTEGER, NUMBER = "must be an integer, not true or false", "must be a number, not true or false"


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (Annotated[SecretStr, Field(min_length=32)], CANARY, "a: must have at least 32 characters"),
        (Annotated[SecretStr, Field(max_length=2)], CANARY, "a: must have at most 2 characters"),
        (Annotated[list[int], Field(min_length=2)], [1], "a: must have at least 2 items"),
        (Literal["a", 1, None, True], "x", "a: must be 'a', 1, null or true"),  # noqa: PYI061
        (Secure, f"ftp://{CANARY}", "a: must be a URL that begins with 'https'"),
        (dict[Literal["x"], int], {CANARY: 1}, f"a.{CANARY}: the name must be 'x'"),
        # an author's own words are kept, without the value and its parts
        (raising(lambda value: ValueError(f"no such user: {value}")), CANARY, "a: no such user: the value"),
        (raising(lambda value: ValueError()), CANARY, "a: is not valid"),
        (raising(lambda value: PydanticCustomError("mine", "lacks salt in {value}", {"value": value})), CANARY,
         "a: lacks salt in the value"),
        (Account, {"number": 4711, "notes": [CANARY, "like"]},
         "a: no account the value, with the value and the value; a number the value 12 is short"),
        # near names are suggested
        (Exact, {"inner": [{"dept": 1}]}, "a.inner.0.dept is not allowed; did you mean 'depth'?"),
        (Literal["metric", "imperial"] | int, "metrics",
         "a: must be 'metric' or 'imperial', or: must be an integer; did you mean 'metric'?"),
        (list[tuple[int, Literal["left", "right"]]], [[1, "lefft"]],
         "a.0.1: must be 'left' or 'right'; did you mean 'left'?"),
        # the kind of the value is named, and a null that may be omitted
        (Literal["a"], 1, "a: must be 'a', got an integer"),
        (Exact, {"depth": None}, "a.depth: must be an integer, got null; omit it"),
        # a boolean is not a number
        (tuple[int, bool, float], [1, True, True], f"a.2: {NUMBER}"),
        (Literal[1, 2], True, f"a: {INTEGER}"),
        (Literal["a", 0, True], False, "a: must not be false"),
        (int | list[int], True, f"a: {INTEGER}"),
        (list[int] | Exact, {"depth": True}, f"a.depth: {INTEGER}"),
        (int | list[int], [1, True], f"a.1: {INTEGER}"),
        (list[Row], [{}, {"number": True}], f"a.1.number: {NUMBER}"),
        (list[Row], [{}, {"inner": [1, False]}], f"a.1.inner.1: {INTEGER}"),
        (list[OpenRow], [{}, {"other": True}], f"a.1.other: {INTEGER}"),
        (dict[Annotated[str, Field(pattern="^x")], int], {"x": True}, f"a.x: {INTEGER}"),
        (Spot, {"x": True}, f"a.x: {INTEGER}"),
    ],
)  # fmt: skip
def test_the_message_of_one_argument(annotation: Any, value: Any, expected: str) -> None:
    assert message(annotation, value) == expected


def test_a_boolean_is_reported_together_with_other_errors() -> None:
    def function(a: Annotated[int, Field(ge=5)], b: str, c: list[int] | None = None) -> None: ...

    with pytest.raises(ToolInputError) as caught:
        compile_signature(function).bind({"a": True, "c": [1, False]})
    expected = ["Invalid arguments:", "b is required", f"a: {INTEGER}", f"c.1: {INTEGER}"]
    assert caught.value.message.splitlines() == expected


def test_a_boolean_is_accepted_where_the_schema_has_one() -> None:
    def function(a: bool | int, b: list[int] | list[bool], c: dict[str, Any]) -> None: ...

    arguments = {"a": True, "b": [True, False], "c": {"x": [True, 1]}}
    assert repr(compile_signature(function).bind(arguments)) == repr(arguments)


def test_long_messages_are_cut_off() -> None:
    choices = Literal[tuple(f"choice{number}" for number in range(60))]  # type: ignore[valid-type]
    assert message(choices, CANARY).endswith("'choice18', 'choice19' or one of 40 more")
    assert message(choices, "choice_59").endswith("; did you mean 'choice59'?")
    lines = message(list[int], ["x"] * 5_000).splitlines()
    assert lines[:2] == ["a.0: must be an integer, got a string", "a.1: must be an integer, got a string"]
    assert lines[10:] == ["and 4990 more"]


def many(
    city: str = "",
    number: int = 1,
    text: Annotated[str, Field(min_length=3, max_length=20, pattern="^[a-z-]*$")] = "abc",
    color: Color = Color.RED,
    either: int | list[int] = 1,
    numbers: list[int] = [],  # noqa: B006
    table: dict[str, int] = {},  # noqa: B006
    options: Options | None = None,
    tree: Tree | None = None,
    pet: Annotated[Cat | Dog | None, Field(discriminator=None)] = None,
    renamed: Annotated[int, "new-name", "another name"] = 1,
) -> None: ...


AUTHORS_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}},
    "additionalProperties": False,
    "$defs": {"loop": {"anyOf": [{"$ref": "#/$defs/loop"}]}},
}
SIGNATURES = {"many": compile_signature(many), "schema": compile_signature(lambda **arguments: None, AUTHORS_SCHEMA)}


def lines(name: str, arguments: dict[str, Any]) -> list[str]:
    with pytest.raises(ToolInputError) as caught:
        SIGNATURES[name].bind(arguments)
    first, *others = caught.value.message.splitlines()
    assert first == "Invalid arguments:"
    return others


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("many", {"text": "ABC", "new-name": "x"},
         ["text: must match the regular expression ^[a-z-]*$", "new-name: must be an integer, got a string"]),
        ("many", {"number": [], "text": 5, "unknown": None},
         ["number: must be an integer, got a list", "text: must be a string, got an integer",
          "unknown is not a parameter of this tool"]),
        ("many", {"number": None, "either": None}, ["number: must be an integer, got null; omit it",
          "either: must be an integer, or: must be a list, got null; omit it"]),
        ("schema", {"city": None}, ["city: must be a string, got null; omit it"]),
        ("schema", {"cty": "x"}, ["cty is not a parameter of this tool; did you mean 'city'?"]),
        # the caller chooses names: a name must not forge a line
        ("many", {"table": {"a\nnumber is required": "x"}},
         ["table.a\\nnumber is required: must be an integer, got a string"]),
        ("many", {"\x1b[31mred": 1}, ["\\x1b[31mred is not a parameter of this tool"]),
    ],
)  # fmt: skip
def test_each_field_has_one_line(name: str, arguments: dict[str, Any], expected: list[str]) -> None:
    assert lines(name, arguments) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"number": CANARY}, {"color": CANARY}, {"text": CANARY * 5}, {"numbers": [CANARY]}, {"either": CANARY},
        {"options": CANARY}, {"tree": {"name": [CANARY]}}, {"pet": {"kind": CANARY}},
        {"unknown": CANARY},
    ],
    ids=repr,
)  # fmt: skip
def test_the_value_is_not_repeated_and_the_library_is_not_named(arguments: dict[str, Any]) -> None:
    (line,) = lines("many", arguments)
    assert not re.search(f"{CANARY}|pydantic|http|input_value", line, re.I)


@pytest.mark.parametrize("arguments", [{"x" * 100_000: 1}, {"table": {"k" * 100_000: "x"}}], ids=["name", "key"])
def test_a_message_stays_short_for_any_arguments(arguments: dict[str, Any]) -> None:
    assert sum(map(len, lines("many", arguments))) < 10_000
