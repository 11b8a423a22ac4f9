"""Arguments that need no conversion are validated without being encoded as JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, OnErrorOmit, TypeAdapter, ValidationError, field_validator
from pydantic_core import to_json
from typing_extensions import TypedDict

from pegboard.schemas.exact_types import exact_validator
from pegboard.schemas.signature import compile_signature


class Node(BaseModel):
    name: str = Field(alias="called", min_length=2)
    size: int = 0
    ratio: float | None = None
    children: list[Node] = []


class Row(TypedDict):
    id: int
    kind: Literal["a", "b"]
    done: Annotated[dict[str, bool], Field(description="Steps.")]


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    when: date


class Checked(BaseModel):
    text: str

    @field_validator("text")
    @classmethod
    def lower(cls, text: str) -> str:
        return text.lower()


class Shade(Enum):
    DARK = "dark"
    FIVE = 5


class Event(BaseModel):
    when: datetime
    day: date | None
    shade: Shade
    id: UUID
    took: timedelta


EVENT = {
    "when": "2026-01-02T03:04:05+02:00",
    "day": "2026-01-02",
    "shade": "dark",
    "id": "12345678123456781234567812345678",
    "took": "PT3S",
}
NODE = {"called": "root", "children": [{"called": "leaf", "size": 2**70, "ratio": 1}]}
ROW = {"id": 1, "kind": "b", "done": {"x": True}}


def exact(annotation: Any) -> Callable[[Any], Any] | None:
    return exact_validator(TypeAdapter(annotation).core_schema)


@pytest.mark.parametrize(("annotation", "value"), [(Node, NODE), (list[Row], [ROW, {**ROW, "m": 1}]), (Event, EVENT)])
def test_a_value_of_the_declared_types_is_read_like_its_json(annotation: Any, value: Any) -> None:
    check = exact(annotation)
    assert check is not None
    result, expected = check(value), TypeAdapter(annotation).validate_json(to_json(value))
    assert result == expected
    assert repr(result) == repr(expected)  # 1.0 for 1


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Node, {**NODE, "size": True}),
        (Node, {**NODE, "size": "3"}),
        (Node, {**NODE, "size": 3.0}),
        (Node, {**NODE, "called": "x"}),
        (Node, Node(called="root")),
        (list[Row], [{**ROW, "done": {"x": 1}}]),
        (list[Row], [{"id": 1}]),
        (list[Row], (ROW,)),
        (Event, {**EVENT, "when": 1_700_000_000}),
        (Event, {**EVENT, "shade": 5}),
        (Event, {**EVENT, "id": UUID(EVENT["id"])}),
    ],
)
def test_a_value_that_needs_conversion_is_left_to_the_validation_of_json(annotation: Any, value: Any) -> None:
    check = exact(annotation)
    assert check is not None
    with pytest.raises(ValidationError):
        check(value)


DIFFERENT = (date | str, Decimal, bytes, Loose, Strict, Checked, dict[int, str], list[Any], list[OnErrorOmit[int]])


@pytest.mark.parametrize(("annotation", "strict"), [*((kind, False) for kind in DIFFERENT), (Event, True)], ids=str)
def test_a_type_that_may_read_json_differently_has_no_such_validator(annotation: Any, strict: bool) -> None:
    assert exact_validator(TypeAdapter(annotation).core_schema, strict=strict) is None


def test_arguments_that_need_no_conversion_are_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(nodes: list[Node]) -> None: ...

    signature = compile_signature(function)
    converted = signature.bind({"nodes": [{**NODE, "size": "3"}]})
    assert converted["nodes"][0].size == 3
    monkeypatch.delattr("pegboard.schemas.signature.to_json")
    assert signature.bind({"nodes": [NODE]})["nodes"][0].children[0].size == 2**70
