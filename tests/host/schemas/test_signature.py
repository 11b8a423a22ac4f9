"""Signatures: rules that the recorded table does not show."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import inspect
import math
from collections.abc import Awaitable
from typing import Annotated, Any, NoReturn
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, field_serializer
from typing_extensions import TypedDict

from pegboard import ImageContent, ToolResult
from pegboard.errors import ToolInputSchemaError, ToolOutputError
from pegboard.schemas.signature import Signature, compile_signature
from tests.host.schemas.signatures.forms import join, traced
from tests.host.schemas.signatures.types_of_tests import Aliased, Color, JsonValue, Options, Point

NONE: Any = None
TEXT: Any = "2026-07-28"
"""Values that type checkers reject."""


def test_parameters_are_listed_in_the_order_of_the_signature() -> None:
    def function(zebra: int, apple: int, mango: int = 1, *, banana: int, last: int = 2) -> None: ...

    schema = compile_signature(function).input_schema
    assert list(schema["properties"]) == ["zebra", "apple", "mango", "banana", "last"]
    assert schema["required"] == ["zebra", "apple", "banana"]


@pytest.mark.parametrize("wrap", [traced, lambda bound: functools.update_wrapper(bound, join)])
def test_what_a_partial_sets_is_no_argument_if_it_is_wrapped(wrap: Any) -> None:
    signature = compile_signature(wrap(functools.partial(join, "hi", end="?")))
    assert signature.input_schema["properties"] == {"name": {"type": "string"}}


def test_a_wrapper_of_a_function_with_a_signature_of_its_own_has_the_same_types() -> None:
    """In Python 3.14, `functools.wraps` does not copy annotations that were assigned."""

    def own(*values: Any) -> Any: ...

    types = {"a": Annotated[int, "a number"], "return": Annotated[str, "a word"]}
    vars(own)["__signature__"] = inspect.signature(lambda a: None)
    own.__annotations__ = types
    compiled = compile_signature(traced(traced(own)))
    assert compiled.input_schema["properties"] == {"a": {"description": "a number", "type": "integer"}}
    assert compiled.output_schema == {"description": "a word", "type": "string"}


def test_a_default_is_passed_unchanged_and_not_shared_between_calls() -> None:
    marker = object()

    def function(items: list[int] = [], a: int = marker, b: int = "text") -> None: ...  # type: ignore[assignment]  # noqa: B006

    signature = compile_signature(function)
    signature.bind({})["items"].append(1)
    assert signature.bind({}) == {"items": [], "a": marker, "b": "text"}


def test_the_schema_shows_the_default_none_only_where_callers_may_send_null() -> None:
    def plain(a: str = NONE, b: str | None = None, c: list[int] = NONE, d: Any = None) -> None: ...

    def other(a: UUID = NONE, b: UUID | None = None, c: list[UUID] = NONE, d: Any = None) -> None: ...

    def named(a: Color = NONE, b: Color | None = None, c: int | str = NONE, d: JsonValue = None) -> None: ...

    for function in (plain, other, named):
        signature = compile_signature(function)
        properties = signature.input_schema["properties"]
        assert [name for name, member in properties.items() if "default" in member] == ["b", "d"]
        assert signature.bind({}) == {"a": None, "b": None, "c": None, "d": None}


@pytest.mark.parametrize("function", [lambda ctx: 1, lambda context: 1], ids=["ctx", "context"])
def test_a_context_without_a_type_names_the_type_to_add(function: Any) -> None:
    with pytest.raises(ToolInputSchemaError, match=r"has no type annotation: add `: Context`$"):
        compile_signature(function)


def test_a_length_limit_of_a_number_is_refused_inside_a_type() -> None:
    def function(a: dict[str, list[Annotated[int, Field(min_length=1)]]]) -> None: ...

    with pytest.raises(ToolInputSchemaError, match="int has no length to limit"):
        compile_signature(function)


def giving(annotation: Any) -> Signature:
    def function() -> Any: ...

    function.__annotations__["return"] = annotation
    return compile_signature(function)


NEEDED: list[Any] = [str, Annotated[str, Field(max_length=3)], Awaitable[str], bytes, ImageContent, list[Any], int]
OPTIONAL: list[Any] = [None, Any, object, NoReturn, Awaitable, Awaitable[None], str | None, ImageContent | None]


@pytest.mark.parametrize("annotation", NEEDED, ids=str)
def test_none_is_a_result_error_if_the_declared_type_excludes_it(annotation: Any) -> None:
    with pytest.raises(ToolOutputError) as caught:
        giving(annotation).result(None)
    assert str(caught.value.developer_message).startswith("it returned None: ")


@pytest.mark.parametrize("annotation", OPTIONAL, ids=str)
def test_none_is_a_result_if_the_declared_type_includes_it(annotation: Any) -> None:
    assert giving(annotation).result(None) is None


@dataclasses.dataclass
class Plain:
    x: int


@pytest.mark.parametrize(
    ("returned", "sent"),
    [
        ([1, (2, 3), {4}], [1, [2, 3], [4]]),
        ({"a": Point(x=1), "b": Plain(2), "c": Color.RED}, {"a": {"x": 1, "y": 0}, "b": {"x": 2}, "c": "red"}),
        (datetime.date(2026, 7, 28), "2026-07-28"),
        (Aliased(user_id=3), {"userId": 3, "fullName": "x", "mail": "", "phone": ""}),
    ],
)
def test_a_result_without_a_declared_type_becomes_json(returned: Any, sent: Any) -> None:
    result = giving(Any).result(returned)
    assert (result.value if isinstance(result, ToolResult) else result) == sent


@dataclasses.dataclass
class Sealed:
    word: str
    secret: dataclasses.InitVar[str]
    state: str = dataclasses.field(default="new", init=False)


def test_a_dataclass_shows_the_members_that_are_received_or_sent() -> None:
    def function(sealed: Sealed) -> Sealed: ...  # type: ignore[empty-body]

    signature = compile_signature(function)
    assert signature.output_schema is not None
    assert list(signature.input_schema["$defs"]["Sealed"]["properties"]) == ["word", "secret"]
    assert list(signature.output_schema["properties"]) == ["word", "state"]


class Described(TypedDict):
    """The class."""

    x: int


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Annotated[int, "The sum"], {"type": "integer"}),
        (Annotated[str, "The sum"], {"type": "string"}),
        (Annotated[int, Field(ge=1), "The sum"], {"type": "integer", "minimum": 1}),
        (Annotated[Described, "The sum"], {"properties": {"x": {"type": "integer"}}, "required": ["x"]}),
        (Annotated[UUID, "The sum"], {"type": "string", "format": "uuid"}),
    ],
)
def test_a_string_describes_a_result(annotation: Any, schema: dict[str, Any]) -> None:
    described = giving(annotation).output_schema
    assert described is not None
    assert described.items() >= {**schema, "description": "The sum"}.items()
    assert giving(Annotated[Any, "anything"]).output_schema is None


@pytest.mark.parametrize(
    ("returned", "detail"),
    [
        ([{"a": 1}, {2: 1}], "it returned list: 1.2: the name must be a string"),
        ([{"a": 1}, 2], "it returned list: 1: must be an object, got an integer"),
        ({"a": {}}, "it returned dict: must be a list, got an object"),
        ([{"a": math.inf}], "JSON cannot express NaN and infinities"),
    ],
)
def test_plain_objects_of_a_declared_list_are_checked(returned: Any, detail: str) -> None:
    with pytest.raises(ToolOutputError) as caught:
        giving(list[dict[str, Any]]).result(returned, is_json=True)
    assert caught.value.developer_message == detail


@dataclasses.dataclass
class Trip:
    day: datetime.date


def test_a_member_of_another_type_is_sent_if_its_json_fits() -> None:
    assert giving(Trip).result(Trip(TEXT)).value == {"day": TEXT}


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
    ("annotation", "returned", "detail"),
    [
        (int, "canary", "it returned str: must be an integer"),
        (Point, {"x": -1}, "it returned dict: x: must be at least 0"),
        (list[int], ["x"], "it returned list: 0: must be an integer"),
        (tuple[int, int], (1, "x"), "it returned tuple: 1: must be an integer"),
        (Options, {}, "it returned dict: depth is required"),
        (Point, None, "it returned None: must be an object"),
        (dict[str, float], {"a": math.nan}, "JSON cannot express NaN and infinities"),
        (dict[str, float], {"a": -math.inf}, "JSON cannot express NaN and infinities"),
        (Any, {"a": [object()]}, "Unable to serialize"),
        (Any, len, "Unable to serialize"),
        (Any, loop(), "Circular reference"),
        (Any, Broken(x=1), "Error calling function"),
        (list[Broken], [Broken(x=1)], "Error calling function"),
        (list[Plain], [Plain(TEXT)], "0.x: must be an integer"),
    ],
    ids=range(14),
)
def test_results_that_cannot_be_sent_are_errors_without_the_value(annotation: Any, returned: Any, detail: str) -> None:
    with pytest.raises(ToolOutputError) as caught:
        giving(annotation).result(returned)
    assert caught.value.message in (
        "The tool returned a result that does not fit its own declaration.",
        "The tool returned a result that JSON cannot express.",
    )
    assert str(caught.value.developer_message).startswith(detail)
    if isinstance(returned, str):
        assert "canary" not in f"{caught.value.developer_message} {caught.value.__cause__}"
