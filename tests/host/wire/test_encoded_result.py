"""Results with the JSON of their values: like any other `ToolResult`, and encoded again if the value was changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import ToolResult
from pegboard.wire.encoded_result import EncodedResult

VALUE = {"a": [1, {"b": "é"}]}
JSON = '{"a":[1,{"b":"é"}]}'.encode()
DEEP = b"[" * 220 + b"]" * 220


def encoded(value: bytes = JSON) -> EncodedResult:
    return EncodedResult.of(value, structured=True)


READERS: dict[str, Callable[[EncodedResult], Any]] = {
    "attribute": lambda result: result.value,
    "index": lambda result: result[0],
    "iterator": lambda result: next(iter(result)),
}


@pytest.mark.parametrize("reader", READERS)
def test_the_value_is_decoded_when_it_is_read(reader: str) -> None:
    assert READERS[reader](encoded()) == VALUE


def test_it_equals_a_tool_result() -> None:
    result = ToolResult(VALUE, structured=True)
    assert encoded() == result
    assert repr(encoded()) == repr(result)
    assert copy.deepcopy(encoded()) == result
    assert encoded()._replace(is_error=True) == result._replace(is_error=True)
    assert hash(encoded()._replace(value=1)) == hash(result._replace(value=1))


def test_a_changed_value_is_encoded_again() -> None:
    result = encoded()
    assert result.json is JSON
    result.value["a"] = 2
    assert result.json == b'{"a":2}'


def test_a_value_of_many_levels_can_be_read() -> None:
    assert encoded(DEEP).json == DEEP
    assert len(encoded(DEEP).value) == 1
