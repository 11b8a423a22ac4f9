"""What a model is told of arguments that do not fit: one short line for each field, and nothing of the value."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, Field

from pegboard.plugin import ToolInputError
from pegboard.schemas.signature import compile_signature
from tests.host.sample_types import Cat, Color, Dog, Options, Point, Size, Tree

CANARY = "canary-7f3a91"


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


def function(
    number: int = 1,
    text: Annotated[str, Field(min_length=3, max_length=20, pattern="^[a-z-]*$")] = "abc",
    choice: Literal["a", "b"] = "a",
    color: Color = Color.RED,
    either: int | list[int] = 1,
    numbers: list[int] = [],  # noqa: B006
    table: dict[str, int] = {},  # noqa: B006
    options: Options | None = None,
    size: Size | None = None,
    point: Point | None = None,
    tree: Tree | None = None,
    pet: Annotated[Cat | Dog | None, Field(discriminator=None)] = None,
    pair: Annotated[int, AfterValidator(even)] = 2,
    renamed: Annotated[int, "new-name", "another name"] = 1,
) -> None: ...


SIGNATURE = compile_signature(function)


def message(arguments: dict[str, Any]) -> str:
    with pytest.raises(ToolInputError) as caught:
        SIGNATURE.bind(arguments)
    return caught.value.message


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"number": "x"}, ["number: must be an integer"]),
        ({"number": None}, ["number: must be an integer"]),
        ({"text": "x"}, ["text: must have at least 3 characters"]),
        ({"text": "ABC"}, ["text: must match the regular expression ^[a-z-]*$"]),
        ({"choice": "c"}, ["choice: must be 'a' or 'b'"]),
        ({"color": "blue"}, ["color: must be 'red' or 'green'"]),
        (
            {"numbers": ["x", 1, None]},
            [
                "numbers.0: must be an integer",
                "numbers.2: must be an integer",
            ],
        ),
        ({"table": {"a": "x"}}, ["table.a: must be an integer"]),
        ({"tree": {"name": "a", "children": [{"name": 1}]}}, ["tree.children.0.name: must be a string"]),
        ({"pair": 3}, ["pair: must be even"]),
        ({"new-name": "x"}, ["new-name: must be an integer"]),
        ({"unknown": 1}, ["unknown is not a parameter of this tool"]),
        ({"options": {}}, ["options.depth is required"]),
        ({"options": {"depth": 1, "deep": 2}}, ["options.deep is not allowed; did you mean 'depth'?"]),
        (
            {"number": [], "text": 5, "unknown": None},
            [
                "number: must be an integer",
                "text: must be a string",
                "unknown is not a parameter of this tool",
            ],
        ),
    ],
)  # fmt: skip
def test_each_field_has_its_line(arguments: dict[str, Any], lines: list[str]) -> None:
    assert message(arguments).splitlines() == ["Invalid arguments:", *lines]


def test_a_missing_argument_is_said_to_be_required() -> None:
    def needs(a: int, b: Point) -> None: ...

    with pytest.raises(ToolInputError) as caught:
        compile_signature(needs).bind({"b": {}})
    assert caught.value.message == "Invalid arguments:\na is required\nb.x is required"


def test_a_union_is_one_field_with_one_line() -> None:
    assert len(message({"either": "x"}).splitlines()) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"number": CANARY},
        {"choice": CANARY},
        {"color": CANARY},
        {"text": CANARY.upper()},
        {"text": CANARY * 5},
        {"numbers": CANARY},
        {"numbers": [CANARY]},
        {"table": CANARY},
        {"table": {"a": CANARY}},
        {"either": CANARY},
        {"options": CANARY},
        {"size": {"width": CANARY}},
        {"point": CANARY},
        {"point": {"x": CANARY}},
        {"tree": {"name": [CANARY]}},
        {"pet": {"kind": CANARY}},
        {"unknown": CANARY},
        {"pair": CANARY},
    ],
    ids=repr,
)
def test_the_value_is_not_repeated_and_the_library_is_not_named(arguments: dict[str, Any]) -> None:
    found = message(arguments)
    assert CANARY.lower() not in found.lower()
    assert "pydantic" not in found
    assert "http" not in found
    assert "input_value" not in found


@pytest.mark.parametrize(
    "arguments",
    [{"table": {"a\nnumber is required": "x"}}, {"evil\nnumber is required": 1}, {"\x1b[31mred": 1}],
    ids=repr,
)
def test_a_name_that_the_caller_chose_cannot_forge_a_line(arguments: dict[str, Any]) -> None:
    lines = message(arguments).splitlines()
    assert len(lines) == 2
    assert "\x1b" not in lines[1]


@pytest.mark.parametrize(
    "arguments",
    [{"x" * 100_000: 1}, {"numbers": ["x"] * 10_000}, {"table": {"k" * 100_000: "x"}}],
    ids=["name", "items", "key"],
)
def test_a_message_stays_short_whatever_is_sent(arguments: dict[str, Any]) -> None:
    assert len(message(arguments)) < 10_000
