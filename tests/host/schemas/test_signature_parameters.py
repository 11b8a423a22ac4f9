"""What a signature may look like: names, defaults, descriptions, and the things that can be called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import pytest
from pydantic import Field
from typing_extensions import ParamSpec

from pegboard import Context
from pegboard.plugin import ToolInputError
from pegboard.schemas.signature import compile_signature
from tests.host import plain_annotations
from tests.host.sample_types import Color, Point

P = ParamSpec("P")
R = TypeVar("R")


def properties(function: Callable[..., Any]) -> Any:
    return compile_signature(function).input_schema["properties"]


# --- names

AWKWARD = [
    "self", "cls", "model_config", "model_fields", "schema", "json", "copy", "dict", "items", "keys", "get", "validate",
    "_private", "__dunder__", "type", "id", "class_", "arguments", "name", "context", "callable", "ünï",
]  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_a_parameter_may_have_any_name(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def function({name}: int, other: str = 'x'): return {name}", namespace)
    signature = compile_signature(namespace["function"])
    assert signature.input_schema["required"] == [name]
    assert namespace["function"](**signature.bind({name: 5})) == 5


def test_parameters_are_listed_in_the_order_of_the_signature() -> None:
    def function(zebra: int, apple: int, mango: int = 1, *, banana: int, last: int = 2) -> None: ...

    assert list(properties(function)) == ["zebra", "apple", "mango", "banana", "last"]
    assert compile_signature(function).input_schema["required"] == ["zebra", "apple", "banana"]


@pytest.mark.requirement("SCHEMA-10")
def test_no_parameters_are_an_object_that_takes_none() -> None:
    def function() -> None: ...

    signature = compile_signature(function)
    assert signature.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert signature.bind({}) == {}
    with pytest.raises(ToolInputError, match="more is not a parameter of this tool"):
        signature.bind({"more": 1})


# --- defaults

NONE: Any = None
"""For what type checkers refuse."""


def test_an_absent_argument_takes_the_functions_default() -> None:
    def function(a: int = 3, b: str | None = None, c: Color = Color.RED, d: Point = Point(x=1)) -> None: ...  # noqa: B008

    signature = compile_signature(function)
    assert signature.bind({}) == {"a": 3, "b": None, "c": Color.RED, "d": Point(x=1)}
    assert signature.bind({"a": 4, "c": "green"})["c"] is Color.GREEN
    defaults = {name: one["default"] for name, one in signature.input_schema["properties"].items()}
    assert defaults == {"a": 3, "b": None, "c": "red", "d": {"x": 1, "y": 0}}
    assert "required" not in signature.input_schema


def test_a_default_is_not_shared_between_calls() -> None:
    def function(items: list[int] = [], table: dict[str, int] = {}) -> None: ...  # noqa: B006

    signature = compile_signature(function)
    first = signature.bind({})
    first["items"].append(1)
    first["table"]["a"] = 1
    assert signature.bind({}) == {"items": [], "table": {}}


def test_none_is_told_as_a_default_only_where_callers_may_send_it() -> None:
    def plain(a: str = NONE, b: str | None = None, c: list[int] = NONE, d: Any = None) -> None: ...

    def other(a: UUID = NONE, b: UUID | None = None, c: list[UUID] = NONE, d: Any = None) -> None: ...

    for function in (plain, other):
        signature = compile_signature(function)
        properties = signature.input_schema["properties"]
        assert [name for name, one in properties.items() if "default" in one] == ["b", "d"]
        assert signature.bind({}) == {"a": None, "b": None, "c": None, "d": None}


def test_a_default_is_taken_as_it_is() -> None:
    marker = object()

    def function(a: int = marker, b: int = "text") -> None: ...  # type: ignore[assignment]  # authors do this

    assert compile_signature(function).bind({}) == {"a": marker, "b": "text"}


def test_null_is_no_absent_argument() -> None:
    def function(a: int = 3) -> None: ...

    with pytest.raises(ToolInputError, match=r"^Invalid arguments:\na: must be an integer$"):
        compile_signature(function).bind({"a": None})


def test_field_gives_constraints_defaults_and_descriptions() -> None:
    def function(
        a: int = Field(7, ge=5, description="the a"),
        b: str = Field(..., min_length=2),
        c: list[int] = Field(default_factory=lambda: [1]),
        d: Annotated[int, Field(le=3, description="the d", examples=[1])] = 2,
    ) -> None: ...

    signature = compile_signature(function)
    found = signature.input_schema["properties"]
    assert signature.input_schema["required"] == ["b"]
    assert found["a"] == {"type": "integer", "default": 7, "minimum": 5, "description": "the a"}
    assert found["d"] == {"type": "integer", "default": 2, "maximum": 3, "description": "the d", "examples": [1]}
    assert signature.bind({"b": "xy"}) == {"a": 7, "b": "xy", "c": [1], "d": 2}
    with pytest.raises(ToolInputError, match="b: must have at least 2 characters"):
        signature.bind({"b": "x"})


def test_an_alias_is_the_name_for_callers_and_the_parameter_keeps_its_own() -> None:
    def function(kind: str = Field(alias="type"), size: Annotated[int, Field(alias="Size")] = 1) -> str:
        return f"{kind} {size}"

    signature = compile_signature(function)
    assert list(signature.input_schema["properties"]) == ["type", "Size"]
    assert function(**signature.bind({"type": "a", "Size": 2})) == "a 2"
    assert function(**signature.bind({"type": "a"})) == "a 1"
    with pytest.raises(ToolInputError, match="kind is not a parameter of this tool"):
        signature.bind({"kind": "a"})


# --- texts in Annotated


def test_one_text_describes_a_parameter() -> None:
    def function(a: Annotated[str, "what it is"], b: Annotated[int | None, "how many"] = None) -> None: ...

    assert properties(function)["a"] == {"type": "string", "description": "what it is"}
    assert properties(function)["b"]["description"] == "how many"


def test_of_two_texts_the_first_renames_a_parameter() -> None:
    def function(kind: Annotated[str, "type", "what kind"], class_: Annotated[int, "class", "which"] = 1) -> str:
        return f"{kind} {class_}"

    signature = compile_signature(function)
    assert signature.input_schema["properties"]["type"] == {"type": "string", "description": "what kind"}
    assert signature.input_schema["required"] == ["type"]
    assert function(**signature.bind({"type": "a", "class": 2})) == "a 2"
    assert function(**signature.bind({"type": "a"})) == "a 1"
    with pytest.raises(ToolInputError, match="kind is not a parameter"):
        signature.bind({"kind": "a", "type": "a"})


def test_texts_and_field_go_together() -> None:
    def function(a: Annotated[int, "how many", Field(ge=1, le=9)] = 5) -> None: ...

    assert properties(function)["a"] == {
        "type": "integer", "default": 5, "minimum": 1, "maximum": 9, "description": "how many",
    }  # fmt: skip


# --- the context


def with_context(a: int, context: Context) -> None: ...
def with_other_name(ctx: Context, a: int) -> None: ...
def with_optional(a: int, context: Context | None = None) -> None: ...
def with_annotated(a: int, context: Annotated[Context, "the call"]) -> None: ...


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (with_context, "context"),
        (with_other_name, "ctx"),
        (with_optional, "context"),
        (with_annotated, "context"),
        (plain_annotations.with_object, "context"),
    ],
)
def test_the_context_is_injected_and_no_part_of_the_schema(function: Callable[..., Any], name: str) -> None:
    signature = compile_signature(function)
    assert signature.context_parameter == name
    assert list(signature.input_schema["properties"]) == ["a"]
    with pytest.raises(ToolInputError, match=f"{name} is not a parameter of this tool"):
        signature.bind({"a": 1, name: {}})


def test_without_a_context_there_is_no_parameter_for_it() -> None:
    def function(context: str) -> None: ...

    assert compile_signature(function).context_parameter is None
    assert list(properties(function)) == ["context"]


# --- annotations that are not text


def test_annotations_that_are_objects_work_as_those_that_are_text() -> None:
    def as_text(a: int, b: Annotated[str, "name", "text"] = "x", point: Point | None = None) -> Point: ...  # type: ignore[empty-body]

    objects, texts = compile_signature(plain_annotations.as_objects), compile_signature(as_text)
    assert objects.input_schema == texts.input_schema
    assert objects.output_schema == texts.output_schema


# --- what can be called


class Greeter:
    """Greets."""

    def __init__(self, word: str) -> None:
        self.word = word

    def greet(self, name: str) -> str:
        return f"{self.word} {name}"

    @classmethod
    def shout(cls, name: str) -> str:
        return name.upper()

    @staticmethod
    def whisper(name: str) -> str:
        return name.lower()

    def __call__(self, name: str, *, times: int = 1) -> str:
        return f"{self.word} {name}" * times


def traced(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    return wrapper


@traced
def wrapped(name: str) -> str:
    return f"wrapped {name}"


def join(greeting: str, name: str, end: str = "!") -> str:
    return f"{greeting} {name}{end}"


@pytest.mark.parametrize(
    ("function", "gives"),
    [
        (Greeter("hi").greet, "hi you"),
        (Greeter.shout, "YOU"),
        (Greeter("hi").whisper, "you"),
        (Greeter("hi"), "hi you"),
        (wrapped, "wrapped you"),
        (functools.partial(join, "hi"), "hi you!"),
        (functools.partial(join, "hi", end="?"), "hi you?"),
        (functools.partial(functools.partial(join, end="?"), "hi"), "hi you?"),
        (functools.partial(Greeter("hi").greet), "hi you"),
        (functools.partial(Greeter("hi"), times=2), "hi youhi you"),
        (lambda name="you": name, "you"),
    ],
    ids=[
        "method", "class method", "static method", "object", "wrapped", "partial", "partial keyword", "partial twice",
        "partial method", "partial object", "lambda",
    ],
)  # fmt: skip
def test_whatever_can_be_called_can_be_a_tool(function: Callable[..., str], gives: str) -> None:
    if getattr(function, "__name__", "") == "<lambda>":
        function.__annotations__["name"] = str
    signature = compile_signature(function)
    assert signature.input_schema["properties"]["name"]["type"] == "string"
    assert function(**signature.bind({"name": "you"})) == gives


def test_what_a_partial_gives_already_is_not_asked_for() -> None:
    function = functools.partial(functools.partial(join, "hi"), end="?")
    signature = compile_signature(function)
    assert list(signature.input_schema["properties"]) == ["name"]
    assert function(**signature.bind({"name": "you"})) == "hi you?"
    with pytest.raises(ToolInputError, match="end is not a parameter of this tool"):
        signature.bind({"name": "you", "end": "!"})
