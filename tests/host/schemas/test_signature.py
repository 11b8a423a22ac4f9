"""Signatures: rules that the recorded table does not show."""

from __future__ import annotations

import dataclasses
import datetime
import math
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, field_serializer

from pegboard.plugin import ToolInputError, ToolOutputError
from pegboard.schemas.signature import Signature, compile_signature
from tests.host.schemas.signatures.types_of_tests import Aliased, Color, Options, Point

NONE: Any = None
"""A default that type checkers reject."""


def test_parameters_are_listed_in_the_order_of_the_signature() -> None:
    def function(zebra: int, apple: int, mango: int = 1, *, banana: int, last: int = 2) -> None: ...

    schema = compile_signature(function).input_schema
    assert list(schema["properties"]) == ["zebra", "apple", "mango", "banana", "last"]
    assert schema["required"] == ["zebra", "apple", "banana"]


def test_a_default_is_not_shared_between_calls() -> None:
    def function(items: list[int] = [], table: dict[str, int] = {}) -> None: ...  # noqa: B006

    signature = compile_signature(function)
    first = signature.bind({})
    first["items"].append(1)
    first["table"]["a"] = 1
    assert signature.bind({}) == {"items": [], "table": {}}


def test_a_default_of_another_type_is_passed_unchanged() -> None:
    marker = object()

    def function(a: int = marker, b: int = "text") -> None: ...  # type: ignore[assignment]  # authors do this

    assert compile_signature(function).bind({}) == {"a": marker, "b": "text"}


def test_the_schema_shows_the_default_none_only_where_callers_may_send_null() -> None:
    def plain(a: str = NONE, b: str | None = None, c: list[int] = NONE, d: Any = None) -> None: ...

    def other(a: UUID = NONE, b: UUID | None = None, c: list[UUID] = NONE, d: Any = None) -> None: ...

    for function in (plain, other):
        signature = compile_signature(function)
        properties = signature.input_schema["properties"]
        assert [name for name, one in properties.items() if "default" in one] == ["b", "d"]
        assert signature.bind({}) == {"a": None, "b": None, "c": None, "d": None}


# --- results


def giving(annotation: Any) -> Signature:
    def function() -> Any: ...

    function.__annotations__["return"] = annotation
    return compile_signature(function)


@dataclasses.dataclass
class Plain:
    x: int


@pytest.mark.parametrize(
    ("returned", "sent"),
    [
        ([1, (2, 3), {4}], [1, [2, 3], [4]]),
        ({"a": Point(x=1), "b": Plain(2), "c": Color.RED}, {"a": {"x": 1, "y": 0}, "b": {"x": 2}, "c": "red"}),
        ({1: "one"}, {"1": "one"}),
        (datetime.date(2026, 7, 28), "2026-07-28"),
        (Aliased(user_id=3), {"userId": 3, "fullName": "x", "mail": "", "phone": ""}),
    ],
)
def test_a_result_without_a_declared_type_becomes_json(returned: Any, sent: Any) -> None:
    assert giving(Any).result(returned) == sent


@pytest.mark.parametrize(
    ("annotation", "returned", "detail"),
    [
        (int, "text", "it returned str: must be an integer"),
        (Point, {"x": -1}, "it returned dict: x: must be at least 0"),
        (list[int], ["x"], "it returned list: 0: must be an integer"),
        (Options, {}, "it returned dict: depth is required"),
        (Point, None, "it returned None: must be an object"),
        (str | None, 5, "it returned int: must be"),
        (dict[str, float], {"a": math.nan}, "JSON cannot express NaN and infinities"),
        (dict[str, float], {"a": -math.inf}, "JSON cannot express NaN and infinities"),
    ],
    ids=str,
)
def test_a_result_that_does_not_fit_its_type_is_an_error_of_the_tool(
    annotation: Any, returned: Any, detail: str
) -> None:
    with pytest.raises(ToolOutputError) as caught:
        giving(annotation).result(returned)
    assert caught.value.message == "The tool returned a result that does not fit its own declaration."
    assert str(caught.value.developer_message).startswith(detail)
    assert "canary" not in str(caught.value.__cause__)


class Opaque:
    """A value that JSON cannot express."""


class Broken(BaseModel):
    x: int

    @field_serializer("x")
    def write(self, value: int) -> int:
        raise RuntimeError("canary-7f3a91")


def loop() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("annotation", "returned"),
    [
        (Any, Opaque()),
        (Any, {"a": [Opaque()]}),
        (Any, len),
        (Any, loop()),
        (dict[str, Any], {"a": Opaque()}),
        (Any, Broken(x=1)),
        (Broken, Broken(x=1)),
        (list[Broken], [Broken(x=1)]),
    ],
    ids=range(8),
)
def test_a_result_that_json_cannot_express_is_an_error_of_the_tool(annotation: Any, returned: Any) -> None:
    with pytest.raises(ToolOutputError) as caught:
        giving(annotation).result(returned)
    assert caught.value.message.startswith("The tool returned a result that ")
    assert "Opaque" not in caught.value.message
    assert "canary" not in caught.value.message


def test_a_parameter_that_takes_the_context_is_not_an_argument() -> None:
    def function(context: str) -> None: ...

    assert compile_signature(function).context_parameter is None
    with pytest.raises(ToolInputError, match="context: must be a string"):
        compile_signature(function).bind({"context": {}})
