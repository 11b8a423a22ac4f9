"""What a function returns: the schema that is promised of it, and the JSON-ready value that is made of it."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import uuid
from typing import Annotated, Any, Literal, Optional

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, computed_field, field_serializer

from pegboard.plugin import ToolOutputError, encode
from pegboard.schemas.signature import Signature, compile_signature
from tests.host.sample_types import Box, Color, Level, Options, Point, Size, Tree


def giving(annotation: Any) -> Signature:
    def function() -> Any: ...

    function.__annotations__["return"] = annotation
    return compile_signature(function)


class Account(BaseModel):
    """Speaks camel case outside."""

    model_config = ConfigDict(populate_by_name=True)

    user_id: int = Field(alias="userId")
    full_name: str = Field(serialization_alias="fullName", default="x")


class Circle(BaseModel):
    radius: float

    @computed_field
    def area(self) -> float:
        return self.radius * 2


CASES: list[tuple[Any, Any, Any]] = [
    # the type, what the function returns, what goes out
    (int, 5, 5),
    (float, 1.5, 1.5),
    (bool, True, True),
    (list[int], [1, 2], [1, 2]),
    (list[int], (1, 2), [1, 2]),
    (tuple[int, str], (1, "a"), [1, "a"]),
    (set[int], {1}, [1]),
    (dict[str, Any], {"a": [1, None]}, {"a": [1, None]}),
    (dict[str, datetime.date], {"a": datetime.date(2026, 7, 28)}, {"a": "2026-07-28"}),
    (Optional[int], None, None),
    (int | str, "x", "x"),
    (str | None, None, None),
    (Literal["a", "b"], "b", "b"),
    (uuid.UUID, uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (decimal.Decimal, decimal.Decimal("1.50"), "1.50"),
    (Color, Color.RED, "red"),
    (Level, Level.HIGH, 2),
    (Options, {"depth": 1}, {"depth": 1}),
    (Size, Size(2), {"width": 2, "height": 1, "marks": []}),
    (Point, Point(x=1), {"x": 1, "y": 0}),
    (Point, {"x": 1}, {"x": 1, "y": 0}),
    (list[Point], [Point(x=1)], [{"x": 1, "y": 0}]),
    (Point | None, None, None),
    (Box[int], Box[int](content=3), {"content": 3}),
    (Tree, Tree(name="a", children=[Tree(name="b")]), {"name": "a", "children": [{"name": "b", "children": []}]}),
    (Circle, Circle(radius=2), {"radius": 2.0, "area": 4.0}),
    (Account, Account(user_id=3), {"userId": 3, "fullName": "x"}),
    (list[Account], [Account(user_id=3)], [{"userId": 3, "fullName": "x"}]),
    (Annotated[int, "how many"], 3, 3),
]
IDS = [f"{getattr(case[0], '__name__', case[0])} {place}" for place, case in enumerate(CASES)]


@pytest.mark.requirement("TOOL-18")
@pytest.mark.parametrize(("annotation", "returned", "sent"), CASES, ids=IDS)
def test_a_result_is_json_and_fits_the_schema_that_was_promised(annotation: Any, returned: Any, sent: Any) -> None:
    signature = giving(annotation)
    found = signature.result(returned)
    assert found == sent
    assert signature.output_schema is not None
    Draft202012Validator.check_schema(signature.output_schema)
    Draft202012Validator(signature.output_schema).validate(json.loads(encode(found)))


@pytest.mark.parametrize("annotation", [str, None, Any, object, bytes, Annotated[str, "the text"]], ids=str)
def test_a_result_without_structure_promises_no_schema(annotation: Any) -> None:
    assert giving(annotation).output_schema is None


def test_a_result_without_annotation_promises_no_schema() -> None:
    def function():  # type: ignore[no-untyped-def]  # noqa: ANN202
        return 1

    assert compile_signature(function).output_schema is None


@dataclasses.dataclass
class Plain:
    x: int


class Mood(enum.Enum):
    GOOD = "good"


@pytest.mark.parametrize(
    ("returned", "sent"),
    [
        ("text", "text"),
        (None, None),
        (5, 5),
        ([1, (2, 3), {4}], [1, [2, 3], [4]]),
        ({"a": Point(x=1), "b": Plain(2), "c": Mood.GOOD}, {"a": {"x": 1, "y": 0}, "b": {"x": 2}, "c": "good"}),
        ({1: "one"}, {"1": "one"}),
        (datetime.date(2026, 7, 28), "2026-07-28"),
        (Account(user_id=3), {"userId": 3, "fullName": "x"}),
    ],
)
def test_a_result_of_no_declared_type_is_made_json(returned: Any, sent: Any) -> None:
    assert giving(Any).result(returned) == sent


@pytest.mark.parametrize(
    ("annotation", "returned", "told"),
    [
        (int, "text", "it returned str: must be an integer"),
        (Point, "no point", "it returned str: must be an object"),
        (Point, {"x": -1}, "it returned dict: x: must be at least 0"),
        (list[int], ["x"], "it returned list: 0: must be an integer"),
        (Options, {}, "it returned dict: depth is required"),
        (Literal["a"], "b", "it returned str: must be 'a'"),
        (Point, None, "it returned None: must be an object"),
        (str | None, 5, "it returned int: must be"),
    ],
    ids=str,
)
def test_a_result_that_breaks_its_promise_is_the_tools_error(annotation: Any, returned: Any, told: str) -> None:
    with pytest.raises(ToolOutputError) as caught:
        giving(annotation).result(returned)
    assert caught.value.message == "The tool returned a result that does not fit its own declaration."
    assert str(caught.value.developer_message).startswith(told)
    assert caught.value.__cause__ is None  # a library's dump, with values in it


class Opaque:
    """JSON has no form for it."""


def loop() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    "returned", [Opaque(), {"a": [Opaque()]}, len, loop()], ids=["object", "nested", "function", "loop"]
)
def test_a_result_that_json_has_no_form_for_is_the_tools_error(returned: Any) -> None:
    with pytest.raises(ToolOutputError) as caught:
        giving(Any).result(returned)
    assert caught.value.message == "The tool returned a result that JSON has no form for."
    assert "Opaque" not in caught.value.message


def test_a_nested_result_that_json_has_no_form_for_is_the_tools_error() -> None:
    with pytest.raises(ToolOutputError):
        giving(dict[str, Any]).result({"a": Opaque()})


class Broken(BaseModel):
    x: int

    @field_serializer("x")
    def write(self, value: int) -> int:
        raise RuntimeError("canary-7f3a91")


def test_a_model_that_cannot_write_itself_is_the_tools_error() -> None:
    for annotation in (Broken, Any, list[Broken]):
        with pytest.raises(ToolOutputError) as caught:
            giving(annotation).result([Broken(x=1)] if annotation == list[Broken] else Broken(x=1))
        assert "canary" not in caught.value.message


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_lacks_never_breaks_the_promise(number: float) -> None:
    signature = giving(dict[str, float])
    try:
        sent = signature.result({"a": number})
    except ToolOutputError:
        return
    assert signature.output_schema is not None
    Draft202012Validator(signature.output_schema).validate(json.loads(encode(sent)))
