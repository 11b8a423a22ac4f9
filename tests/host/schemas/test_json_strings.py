"""Arguments that arrive as JSON in a string, and long lists of plain objects."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import AfterValidator, BaseModel, Field

from pegboard import ToolInputError
from pegboard.schemas.signature import compile_signature


class Point(BaseModel):
    x: int = 0


class Spot(NamedTuple):
    x: int


def bound(annotation: Any, value: Any, *, strict: bool = False) -> Any:
    def function(a: Any, b: list[int] = []) -> None: ...  # noqa: B006

    function.__annotations__["a"] = annotation
    try:
        return compile_signature(function, strict=strict).bind({"a": value, "b": [] if strict else "[1]"})["a"]
    except ToolInputError as error:
        return error.message.removeprefix("Invalid arguments:\n")


LIST = "a: must be a list, got a string"


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (list[int], "[1, 2]", [1, 2]),
        (dict[str, int], '\n{"a": 1}', {"a": 1}),
        (Point | None, '{"x": 1}', Point(x=1)),
        (set[int], "[1]", {1}),
        (Spot, "[1]", Spot(1)),
        # a type that accepts strings receives the string, even if another argument is decoded
        (str | list[int], "[1]", "[1]"),
        (Any, "[1]", "[1]"),
        (bytes, "1234", b"\xd7m\xf8"),
        # a string that does not fit is not decoded
        (Annotated[str, Field(max_length=2)] | list[int], "[1]",
         "a: must have at most 2 characters, or: must be a list, got a string"),
        # errors are those of the decoded value
        (list[int], '["x"]', "a.0: must be an integer, got a string"),
        (list[int], '{"a": 1}', LIST),
        (list[int], '"[1]"', LIST),
        (list[int], "[1", LIST),
        (list[int], "[NaN]", LIST),
        (list[Any], "[" * 300 + "]" * 300, LIST),
        (list[int], '["\\ud800"]', LIST),
        (Annotated[list[int], Field(strict=True)], "[1]", LIST),
        (Annotated[list[int], Field(strict=True, validation_alias="a")], "[1]", LIST),
    ],
    ids=repr,
)  # fmt: skip
def test_json_in_a_string(annotation: Any, value: str, expected: Any) -> None:
    assert bound(annotation, value) == expected


def test_a_validator_that_fails_on_json_in_a_string_rejects_the_arguments() -> None:
    assert bound(Annotated[dict[str, int], AfterValidator({}.__getitem__)], '{"a": 1}') == "Invalid arguments."


@pytest.mark.parametrize("annotation", [list[int], Annotated[list[int], Field(validation_alias="a")]])
def test_strict_tools_refuse_json_in_a_string(annotation: Any) -> None:
    assert bound(annotation, "[1]", strict=True) == LIST


def function(rows: list[dict[str, Any]]) -> None: ...


class Sample:
    value: float


SAMPLE = Sample()
SAMPLE.value = math.nan

ROWS: list[Any] = [{"a": number, "b": "x", "c": 0.5} for number in range(500)]


@pytest.mark.parametrize("last", [{"a": True, "b": None}, {"a": {"b": [1]}}])
@pytest.mark.parametrize("strict", [False, True])
def test_each_object_is_copied(last: dict[str, Any], strict: bool) -> None:
    rows = [*ROWS, last]
    bound = compile_signature(function, strict=strict).bind({"rows": rows})["rows"]
    assert bound == rows
    assert not any(copy is original for copy, original in zip(bound, rows, strict=True))
    assert not any(
        copy is original
        for copy, original in zip(bound[-1].values(), last.values(), strict=True)
        if type(original) is dict
    )


@pytest.mark.parametrize(
    ("last", "path"),
    [
        ({"c": math.nan}, "rows.500.c"),
        ({"b": math.inf}, "rows.500.b"),
        ({1: 2}, "rows.500.1"),
        (3, "rows.500"),
        (vars(SAMPLE), "rows.500.value"),
    ],
    ids=range(5),
)
def test_an_object_that_is_not_plain_is_named(last: Any, path: str) -> None:
    with pytest.raises(ToolInputError, match=f"{path}: "):
        compile_signature(function).bind({"rows": [*ROWS, last]})
