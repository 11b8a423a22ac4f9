"""Long lists as results: checked by column, with the same JSON as validated ones."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter
from pydantic_core import SchemaValidator
from typing_extensions import TypedDict

from pegboard.plugin import encode
from pegboard.schemas.output_types import surely_fits


class Row(TypedDict):
    id: int
    name: str | None
    ratio: float


class Rich(TypedDict):
    kind: Literal["a", "b"]
    tags: list[str] | None
    row: Row
    counts: dict[str, int]


class Limited(TypedDict):
    id: Annotated[int, Field(ge=1)]


class Short(TypedDict):
    tags: Annotated[list[str], Field(max_length=1)]


class Open(TypedDict):
    inside: Any


ROWS: list[Any] = [{"id": number, "name": None if number % 3 else "é", "ratio": 0.5} for number in range(200)]
RICH: list[Any] = [
    {"kind": "ab"[number % 2], "tags": ["x", "y"] if number % 3 else None, "row": row, "counts": {str(number): 1}}
    for number, row in enumerate(ROWS)
]


@pytest.mark.parametrize(
    ("annotation", "long"),
    [
        (list[Row], ROWS),
        (list[Rich], RICH),
        (list[list[float]], [[0.5, 1.5], []] * 200),
        (list[dict[str, Any]], [*ROWS, {}, {"more": None}]),
    ],
)
def test_a_long_list_that_fits_has_the_json_of_a_validated_one(annotation: Any, long: Any) -> None:
    core = TypeAdapter(annotation).core_schema
    assert surely_fits(core, long)
    validated = SchemaValidator(core).validate_python(long, strict=True)
    assert encode(validated) == encode(long)


WRONG_ROWS: list[Any] = [
    {"id": True, "name": "x", "ratio": 0.5},
    {"id": 1, "name": "x", "ratio": 1},
    {"id": None, "name": "x", "ratio": 0.5},
    {"id": 1, "ratio": 0.5, "name": "x"},
    {"id": 1, "name": "x"},
    {"id": 1, "name": "x", "ratio": 0.5, "more": 1},
    {"id": 1, "name": "x", "other": 0.5},
    (1, "x", 0.5),
]
WRONG_MEMBERS: list[Any] = [
    {"kind": "c"},
    {"kind": None},
    {"tags": ["x", 1]},
    {"tags": ("x",)},
    {"row": None},
    {"row": {**ROWS[0], "id": "1"}},
    {"row": {"id": 1, "name": "x"}},
    {"counts": {1: 1}},
    {"counts": {"a": True}},
    {"more": "z"},
    {"other": 1},
]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        *((list[Row], [*ROWS, row]) for row in WRONG_ROWS),
        *((list[Rich], [*RICH, {**RICH[0], **members}]) for members in WRONG_MEMBERS),
        *((list[dict[str, Any]], rows) for row in ({1: 2}, None) for rows in ([*ROWS, row], [row, *ROWS])),
        (list[Limited], [{"id": 0}] * 200),
        (list[Short], [{"tags": ["x", "y"]}] * 200),
        (list[Open], [{"inside": 1}] * 200),
        (list[Row], {"id": 1}),
        (list[Row], ROWS[:10]),
    ],
)
def test_a_value_that_may_not_fit_or_is_short_is_left_to_the_validator(annotation: Any, value: Any) -> None:
    assert not surely_fits(TypeAdapter(annotation).core_schema, value)
