"""Long lists of plain objects in arguments: copied, and checked like short ones."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pegboard import ToolInputError
from pegboard.schemas.signature import compile_signature


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
