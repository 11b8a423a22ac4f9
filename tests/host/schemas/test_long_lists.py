"""Results with long lists: encoded like short ones, without a copy."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from pegboard import Toolkit
from pegboard.schemas.output_types import Output, compile_output
from pegboard.wire.limited_json import TooLarge
from tests.host.hosting import make_host, value


class Row(TypedDict):
    id: int
    name: str | None
    ratio: float


class Page(TypedDict):
    total: int
    rows: list[Row]


class Rich(TypedDict):
    kind: Literal["a", "b"]
    tags: list[str] | None
    row: Row
    counts: dict[str, int]
    more: NotRequired[str]


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
RICHER: list[Any] = [*RICH, {**RICH[0], "more": "z"}]
LIMIT = 100_000


def output_of(annotation: Any) -> Output:
    output, _ = compile_output(annotation)
    assert output is not None
    return output


def encoded(value: Any, annotation: Any = list[Row]) -> bytes | None:
    encode_long = output_of(annotation).encode_long
    assert encode_long is not None
    return encode_long(value, LIMIT)


@pytest.mark.parametrize(
    ("annotation", "long"),
    [
        (list[Row], ROWS),
        (list[Rich], RICH),
        (list[Rich], RICHER),
        (Page, {"total": 1, "rows": ROWS}),
        (list[list[float]], [[0.5, 1.5], []] * 200),
        (list[dict[str, Any]], [*ROWS, {}, {"more": None}]),
    ],
)
def test_a_long_list_is_encoded_like_a_validated_one(annotation: Any, long: Any) -> None:
    assert encoded(long, annotation) == output_of(annotation).encoded(long, is_json=True)


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
        {"id": 1, "name": "x", "other": 0.5},
        {"id": 1, "name": "x" * LIMIT, "ratio": 0.5},
        (1, "x", 0.5),
    ],
    ids=range(10),
)
def test_a_list_that_may_not_fit_is_left_to_the_validator(last: Any) -> None:
    assert encoded([*ROWS, last]) is None


def test_a_list_that_is_longer_than_it_seemed_is_too_large() -> None:
    with pytest.raises(TooLarge):
        encoded([*ROWS, {"id": 1, "name": "\0" * (LIMIT // 6), "ratio": 0.5}])


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
        {"counts": {"x" * LIMIT: 1}},
        {"more": None},
        {"other": 1},
    ],
    ids=str,
)
def test_a_value_inside_an_item_that_may_not_fit_is_left_to_the_validator(change: dict[str, Any]) -> None:
    assert encoded([*RICHER, {**RICH[0], **change}], list[Rich]) is None


@pytest.mark.parametrize("last", [{"id": math.inf}, {"id": [1]}, {"id": b"x"}, {1: 2}, {"id": "x" * LIMIT}, None])
def test_an_open_dict_that_may_not_fit_is_left_to_the_validator(last: Any) -> None:
    assert encoded([*ROWS, last], list[dict[str, Any]]) is None
    assert encoded([last, *ROWS], list[dict[str, Any]]) is None
    assert encoded([last] * 200, list[dict[str, Any]]) is None


@pytest.mark.parametrize(
    "last", [dict(reversed(RICHER[-1].items())), {"kind": "a"}], ids=["members in another order", "members are missing"]
)
def test_an_item_with_other_members_is_left_to_the_validator(last: dict[str, Any]) -> None:
    assert encoded([*RICHER, last], list[Rich]) is None


@pytest.mark.parametrize("shared", [{"counts": {str(n): 1 for n in range(50_000)}}, {"tags": ["x"] * 50_000}], ids=list)
def test_items_that_many_objects_share_are_not_listed(shared: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def few(*containers: Any) -> list[Any]:
        assert sum(map(len, containers)) <= LIMIT
        return [item for one in containers for item in (one.values() if type(one) is dict else one)]

    monkeypatch.setattr("pegboard.schemas.long_lists.get_referents", few)
    monkeypatch.setattr("pegboard.schemas.long_lists._values", lambda column: few(*column))
    assert encoded([{**RICH[0], **shared}] * 200, list[Rich]) is None


def test_a_list_that_shares_a_long_text_or_name_is_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("pegboard.schemas.long_lists.encode_within")
    rows = [{"id": 1, "name": "x" * 1000, "ratio": 0.5}] * 101
    assert encoded(rows) is None
    assert encoded(ROWS * 200) is None
    assert encoded([{"x" * 1000: 1}] * 101, list[dict[str, Any]]) is None


@pytest.mark.parametrize("annotation", [list[Limited], list[Short], list[Open], Row], ids=str)
def test_a_type_without_lists_or_with_limits_or_any_values_is_left_to_the_validator(annotation: Any) -> None:
    assert output_of(annotation).encode_long is None


async def test_a_call_returns_a_long_list_without_a_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Toolkit("x")

    @kit.tool
    def give() -> list[Row]:
        """Give rows."""
        return ROWS

    monkeypatch.delattr("pegboard.calls.execute.within")
    async with make_host(kit) as host:
        assert await value(host, "x_give") == ROWS
