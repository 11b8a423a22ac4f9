"""Every error that pydantic knows has words for a model: what a value must be, and nothing of what it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ByteSize,
    Field,
    GetPydanticSchema,
    IPvAnyAddress,
    UrlConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError, Url, core_schema
from typing_extensions import TypedDict

from pegboard.messages.error_words import words
from pegboard.plugin import ToolInputError
from pegboard.schemas.signature import compile_signature

CANARY = "canary7f3a91"
LIMITS = {
    "gt": 1, "ge": 1.0, "lt": 1, "le": 1, "multiple_of": 2, "min_length": 1, "max_length": 2, "actual_length": 3,
    "max_digits": 3, "decimal_places": 1, "whole_digits": 1, "expected_version": 4, "tz_expected": 60, "tz_actual": 7,
    "field_type": "List", "pattern": "^a$", "expected": "'a' or 'b'", "class_name": "X", "class": "X",
    "discriminator": "'kind'", "expected_tags": "'a', 'b'", "encoding": "utf-8", "method_name": "m",
    "expected_schemes": "'http'", "attribute": "a",
}  # fmt: skip
ECHOES = dict.fromkeys(("error", "tag", "encoding_error"), CANARY)
TYPES = get_args(core_schema.ErrorType)


def detail(kind: str) -> dict[str, Any]:
    context = LIMITS | ECHOES
    try:
        message = PydanticKnownError(kind, None).message()  # type: ignore[arg-type]
    except TypeError:
        message = PydanticKnownError(kind, context).message()  # type: ignore[arg-type]
    return {"type": kind, "loc": ("a",), "msg": message, "input": CANARY, "ctx": context}


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind not in ("value_error", "assertion_error")])
def test_each_error_has_words_of_its_own(kind: str) -> None:
    found = words(detail(kind))
    assert found != detail(kind)["msg"]
    assert re.match(r"(must|is|has|cannot|depends|holds) ", found)
    assert len(found) < 90
    assert not re.search(r"input|python|pydantic|https?://docs|instance|dict|tuple|None|\{|canary", found, re.I)


def test_there_are_words_for_a_hundred_errors() -> None:
    assert len(TYPES) > 100


@pytest.mark.parametrize("kind", TYPES)
def test_an_error_that_lacks_what_belongs_to_it_is_told_all_the_same(kind: str) -> None:
    assert words({"type": kind, "loc": (), "msg": "said", "input": 1})


def test_numbers_go_with_their_nouns() -> None:
    assert words(detail("string_too_short")) == "must have at least 1 character"
    assert words(detail("string_too_long")) == "must have at most 2 characters"
    assert words(detail("greater_than_equal")) == "must be at least 1"


def told(annotation: Any, value: Any) -> str:
    """What a model is told of one argument, `a`."""

    def function(a: Any) -> None: ...

    function.__annotations__["a"] = annotation
    with pytest.raises(ToolInputError) as caught:
        compile_signature(function).bind({"a": value})
    return caught.value.message.removeprefix("Invalid arguments:\n")


def raising(error: Callable[[Any], Exception]) -> Any:
    def check(value: Any) -> Any:
        raise error(value)

    return AfterValidator(check)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (lambda value: ValueError("must be even"), "a: must be even"),
        (lambda value: ValueError(f"no such user: {value}"), "a: no such user: the value"),
        (lambda value: ValueError(f"got {value!r}, want less"), "a: got the value, want less"),
        (lambda value: ValueError(), "a: is not valid"),
        (lambda value: AssertionError("must be in stock"), "a: must be in stock"),
        (lambda value: AssertionError(), "a: is not valid"),
        (lambda value: PydanticCustomError("mine", "lacks {what} in {value}", {"what": "salt", "value": value}),
         "a: lacks salt in the value"),
        (lambda value: PydanticKnownError("string_type"), "a: must be a string"),
    ],
    ids=range(8),
)  # fmt: skip
def test_an_author_s_own_words_are_kept_without_the_value(error: Callable[[Any], Exception], message: str) -> None:
    assert told(Annotated[str, raising(error)], CANARY) == message


class Account(BaseModel):
    number: int
    notes: list[str] = []

    @model_validator(mode="after")
    def check(self) -> Account:
        raise ValueError(
            f"no account {self.number}, with {self.notes[0]!r} and {self.notes}; a number like 12 is short"
        )


def test_what_a_value_holds_is_not_repeated_either() -> None:
    message = told(Account, {"number": 4711, "notes": [CANARY, "like"]})
    assert message == "a: no account the value, with the value and the value; a number the value 12 is short"


Secure = Annotated[Url, UrlConstraints(allowed_schemes=["https"])]
CHOICES = Literal[tuple(f"choice{number}" for number in range(60))]  # type: ignore[valid-type]


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (Literal["a", 1, None, True], "x", "a: must be 'a', 1, null or true"),  # noqa: PYI061
        (Literal[1, True], "x", "a: must be 1 or true"),
        (ByteSize, CANARY, "a: must be a size such as 10MB"),
        (IPvAnyAddress, CANARY, "a: must be an IPv4 or IPv6 address"),
        (Secure, f"ftp://{CANARY}", "a: must be a URL that begins with 'https'"),
        (dict[Literal["x"], int], {CANARY: 1}, f"a.{CANARY}: the name must be 'x'"),
        (dict[int, int], {"x": 1}, "a.x: the name must be an integer"),
    ],
)  # fmt: skip
def test_words_of_types(annotation: Any, value: Any, message: str) -> None:
    assert told(annotation, value) == message


def test_of_many_choices_some_are_told() -> None:
    message = told(CHOICES, CANARY)
    assert len(message) < 330
    assert "'choice18'" in message
    assert message.endswith("or one of 40 more")


# --- unions


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
BOTH = "a: kind: must be 'cat' and lives is required, or: kind: must be 'dog' and tricks is required"

APART = "a: end is required and latitude is not allowed, or: longitude is required and start is not allowed"


class Route(TypedDict):
    start: str
    end: str


class Place(TypedDict):
    latitude: float
    longitude: float


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int | list[int], "x", "a: must be an integer, or: must be a list"),
        (int | list[int], ["x"], "a.0: must be an integer"),
        (int | Cat, {"kind": "cat"}, "a.lives is required"),
        (Cat | Dog, {"kind": "cat"}, "a.lives is required"),
        (Cat | Dog, {"kind": "cow"}, BOTH),
        (Cat | Dog | None, 5, "a: must be an object"),
        (Route | Place, {"start": "x", "latitude": 1}, APART),
        (list[Cat | Dog], [{"kind": "dog", "tricks": [1]}], "a.0.tricks.0: must be a string"),
        (Pet, {"kind": CANARY}, "a: must have 'kind' as one of 'cat', 'dog'"),
        (Pet, {}, "a: must have 'kind', which says what it is"),
        (Pet, {"kind": "dog"}, "a.tricks is required"),
    ],
)  # fmt: skip
def test_of_a_union_the_form_that_was_meant_is_told_else_all(annotation: Any, value: Any, message: str) -> None:
    assert told(annotation, value) == message


def test_of_very_many_mistakes_ten_are_told_and_the_others_counted() -> None:
    lines = told(list[int], ["x"] * 5_000).splitlines()
    assert lines[:2] == ["a.0: must be an integer", "a.1: must be an integer"]
    assert lines[10:] == ["and 4990 more"]


# --- names that are unknown


def ship(city: str, street: str = "", place: Place | None = None, stops: list[Place] = []) -> None: ...  # noqa: B006


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"cty": "x"}, ["city is required", "cty is not a parameter of this tool; did you mean 'city'?"]),
        ({"city": "x", "City": "x"}, ["City is not a parameter of this tool; did you mean 'city'?"]),
        ({"city": "x", "zzz": 1}, ["zzz is not a parameter of this tool"]),
        ({"city": "x", "*": 1}, ["* is not a parameter of this tool"]),
        ({"city": "x", "": 1}, ["is not a parameter of this tool"]),
    ],
)
def test_a_name_that_is_near_is_suggested(arguments: Any, lines: list[str]) -> None:
    with pytest.raises(ToolInputError) as caught:
        compile_signature(ship).bind(arguments)
    assert caught.value.message.splitlines()[1:] == lines


class Exact(BaseModel, extra="forbid"):
    depth: int = 1
    inner: list[Exact] = []


def test_a_name_that_is_near_is_suggested_however_deep() -> None:
    assert told(Exact, {"inner": [{"dept": 1}]}) == "a.inner.0.dept is not allowed; did you mean 'depth'?"
    assert told(Exact | int, {"inr": 1}) == "a.inr is not allowed; did you mean 'inner'?"


def test_a_name_is_suggested_where_the_author_wrote_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}},
        "additionalProperties": False,
        "$defs": {"loop": {"anyOf": [{"$ref": "#/$defs/loop"}]}},
    }

    def function(**given: Any) -> None: ...

    with pytest.raises(ToolInputError) as caught:
        compile_signature(function, schema).bind({"cty": "x"})
    assert caught.value.message.splitlines()[1:] == ["cty is not a parameter of this tool; did you mean 'city'?"]


# --- booleans


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int, True, "a: must be an integer, not true or false"),
        (float, False, "a: must be a number, not true or false"),
        (int | None, True, "a: must be an integer, not true or false"),
        (Annotated[int, Field(ge=0)], True, "a: must be an integer, not true or false"),
        (list[int], [1, True], "a.1: must be an integer, not true or false"),
        (tuple[int, bool, float], [1, True, True], "a.2: must be a number, not true or false"),
        (dict[str, list[float]], {"x": [True]}, "a.x.0: must be a number, not true or false"),
        (Place, {"latitude": True, "longitude": 1}, "a.latitude: must be a number, not true or false"),
        (list[Exact], [{"inner": [{"depth": True}]}], "a.0.inner.0.depth: must be an integer, not true or false"),
        (int | list[int], [True], "a.0: must be an integer, not true or false"),
        (Literal[1, 2], True, "a: must be an integer, not true or false"),
    ],
)
def test_a_boolean_is_no_number(annotation: Any, value: Any, message: str) -> None:
    assert told(annotation, value) == message


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (bool | int, True),
        (int | list[bool], [True]),
        (list[int] | list[bool], [True, False]),
        (dict[str, bool | float], {"x": True}),
        (Any, [True]),
        (dict[str, Any], {"x": [True, 1]}),
        (Annotated[bool, GetPydanticSchema(lambda kind, handler: handler(kind))], True),
    ],
)
def test_a_boolean_stands_where_the_schema_has_it(annotation: Any, value: Any) -> None:
    def function(a: Any) -> None: ...

    function.__annotations__["a"] = annotation
    bound = compile_signature(function).bind({"a": value})
    assert repr(bound) == repr({"a": value})
