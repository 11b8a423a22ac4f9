"""Long lists of simple TypedDicts as results: encoded like short ones, without a copy."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from pegboard import Toolkit
from pegboard.schemas.output_types import Output, compile_output
from tests.host.hosting import make_host, value


class Row(TypedDict):
    id: int
    name: str | None
    ratio: float


class Inner(TypedDict):
    row: Row


class Optional(TypedDict):
    id: NotRequired[int]


class Limited(TypedDict):
    id: Annotated[int, Field(ge=1)]


class Chosen(TypedDict):
    id: Literal["a"]


ROWS: list[Any] = [{"id": number, "name": None if number % 3 else "é", "ratio": 0.5} for number in range(200)]
LIMIT = 100_000


def output_of(annotation: Any) -> Output:
    output, _ = compile_output(annotation)
    assert output is not None
    return output


def encoded(value: Any) -> bytes | None:
    rows = output_of(list[Row]).rows
    assert rows is not None
    return rows.encoded(value, LIMIT)


def test_a_long_list_is_encoded_like_a_validated_one() -> None:
    assert encoded(ROWS) == output_of(list[Row]).encoded(ROWS, is_json=True)


@pytest.mark.parametrize(
    "last",
    [
        {"id": True, "name": "x", "ratio": 0.5},
        {"id": 1, "name": "x", "ratio": 1},
        {"id": None, "name": "x", "ratio": 0.5},
        {"id": 1, "name": "x", "ratio": math.nan},
        {"id": 1, "ratio": 0.5, "name": "x"},
        {"id": 1, "name": "x"},
        {"id": 1, "name": "x", "ratio": 0.5, "more": 1},
        {"id": 1, "name": "x" * LIMIT, "ratio": 0.5},
        {"id": 1, "name": "\0" * (LIMIT // 6), "ratio": 0.5},
        (1, "x", 0.5),
    ],
    ids=range(10),
)
def test_a_list_that_may_not_fit_is_left_to_the_validator(last: Any) -> None:
    assert encoded([*ROWS, last]) is None


def test_a_list_that_shares_a_long_text_is_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("pegboard.schemas.rows.encode_finite")
    rows = [{"id": 1, "name": "x" * 1000, "ratio": 0.5}] * 101
    assert encoded(rows) is None
    assert encoded(ROWS * 200) is None


@pytest.mark.parametrize("kind", [Inner, Optional, Limited, Chosen])
def test_a_type_whose_values_need_more_than_a_check_of_types_is_left_to_the_validator(kind: Any) -> None:
    assert output_of(list[kind]).rows is None


async def test_a_call_returns_a_long_list_without_a_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Toolkit("x")

    @kit.tool
    def give() -> list[Row]:
        """Give rows."""
        return ROWS

    monkeypatch.delattr("pegboard.calls.execute.within")
    async with make_host(kit) as host:
        assert await value(host, "x_give") == ROWS
