"""Long lists as results: checked by column, with the same JSON as validated ones."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field
from pydantic_core import SchemaValidator
from typing_extensions import TypedDict

from pegboard.plugin import encode
from pegboard.schemas.output_types import surely_fits
from pegboard.schemas.plain_types import plain_result


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


def fits(value: Any, annotation: Any = list[Row]) -> bool:
    return surely_fits(plain_result(annotation).core, value)


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
    assert fits(long, annotation)
    validated = SchemaValidator(plain_result(annotation).core).validate_python(long, strict=True)
    assert encode(validated) == encode(long)


@pytest.mark.parametrize(
    "last",
    [
        {"id": True, "name": "x", "ratio": 0.5},
        {"id": 1, "name": "x", "ratio": 1},
        {"id": None, "name": "x", "ratio": 0.5},
        {"id": 1, "ratio": 0.5, "name": "x"},
        {"id": 1, "name": "x"},
        {"id": 1, "name": "x", "ratio": 0.5, "more": 1},
        {"id": 1, "name": "x", "other": 0.5},
        (1, "x", 0.5),
    ],
    ids=range(8),
)
def test_a_list_that_may_not_fit_is_left_to_the_validator(last: Any) -> None:
    assert not fits([*ROWS, last])


@pytest.mark.parametrize(
    "change",
    [
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
    ],
    ids=str,
)
def test_a_value_inside_an_item_that_may_not_fit_is_left_to_the_validator(change: dict[str, Any]) -> None:
    assert not fits([*RICH, {**RICH[0], **change}], list[Rich])


@pytest.mark.parametrize("last", [{1: 2}, None])
def test_an_open_dict_that_may_not_fit_is_left_to_the_validator(last: Any) -> None:
    assert not fits([*ROWS, last], list[dict[str, Any]])
    assert not fits([last, *ROWS], list[dict[str, Any]])


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(list[Limited], [{"id": 0}]), (list[Short], [{"tags": ["x", "y"]}]), (list[Open], [{"inside": 1}])],
)
def test_a_type_with_limits_or_any_values_is_left_to_the_validator(annotation: Any, value: Any) -> None:
    assert not fits(value * 200, annotation)


@pytest.mark.parametrize("value", [{"id": 1}, ROWS[:10]], ids=["no list", "a short list"])
def test_another_value_is_left_to_the_validator(value: Any) -> None:
    assert not fits(value)
