"""Plain types and plain results: the same schemas and values as with pydantic; validators that agree with schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Generic, Literal, NotRequired, Optional, Required, TypeVar
from unittest.mock import patch

import pytest
from annotated_types import Ge
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators
from pydantic import ConfigDict, Field, PlainSerializer, with_config
from pydantic_core import to_json
from typing_extensions import TypedDict

from pegboard.errors import ToolDefinitionError, ToolInputError, ToolOutputError
from pegboard.schemas import plain_types
from pegboard.schemas.output_types import compile_output
from pegboard.schemas.signature import Signature, compile_signature
from tests.host.schemas.test_generics import GENERICS, WRAPPERS

T = TypeVar("T")
WithoutFractions = validators.extend(  # type: ignore[no-untyped-call]  # of the library
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int),
)
"""JSON Schema, where 1.0 is no integer, as in strict tools."""
MISSING = object()

ATOMS: st.SearchStrategy[Any] = st.sampled_from(
    [str, int, float, bool, None, Any, dict, list, Literal["a"], Literal["b", "ab"], str | None, Literal["a"] | None]
)
TYPES = st.recursive(
    ATOMS,
    lambda inner: inner.flatmap(
        lambda item: st.sampled_from([list[item], tuple[item, ...], dict[str, item], Optional[item]])  # type: ignore[valid-type]
    ),
    max_leaves=3,
)
LIMITED: st.SearchStrategy[Any] = st.one_of(
    st.tuples(
        st.sampled_from([int, float, int | None]), st.sampled_from([Field(ge=1), Field(gt=0, le=5), Field(lt=3)])
    ),
    st.tuples(
        st.sampled_from([str, list[int], str | None, list[int] | None]),
        st.sampled_from([Field(min_length=1), Field(min_length=1, max_length=2)]),
    ),
).map(lambda pair: Annotated[pair])
DESCRIBED = st.builds(
    lambda annotation, extras: Annotated[(annotation, *extras)],
    TYPES | LIMITED,
    st.sampled_from([["a text"], ["a text", Field(description="said")], ["new", "text"]]),
)
PARAMETERS = st.tuples(TYPES | LIMITED | DESCRIBED, st.sampled_from([MISSING, None, 1, True, "a", 1.5, [], {}]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 7)
    | st.floats(-1, 6)
    | st.sampled_from(["", "a", "b", "1", "1.5", "ab"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "1"]), inner, max_size=2),
    max_leaves=4,
)


class Line(TypedDict):
    number: int
    text: NotRequired[Annotated[str, "no description", Field(description="its text", max_length=3)]]


class Longer(Line, total=False):
    length: Required[int]
    kind: Literal["a", "b"] | None


class Page(TypedDict, Generic[T]):
    items: list[T]
    first: NotRequired[T | None]
    by_name: NotRequired[Annotated[dict[str, T], Field(description="the same")]]


class Book(TypedDict):
    best: Annotated[Line, Field(description="the best one")]
    others: list[Longer]
    again: list[Line] | None


class Tree(TypedDict):
    branches: list[Tree]


def function_of(annotation: Any, default: Any = MISSING, result: Any = None) -> Callable[..., Any]:
    """Define a function with a parameter `a` of this type."""

    def function(a: Any) -> Any: ...

    function.__defaults__ = () if default is MISSING else (default,)
    function.__annotations__ |= {"a": annotation, "return": result}
    return function


@contextmanager
def plainly() -> Iterator[None]:
    """Fail if pydantic compiles a type."""
    with (
        patch("pegboard.schemas.pydantic_types.pydantic_arguments", side_effect=AssertionError("not plain")),
        patch("pegboard.schemas.pydantic_types.pydantic_result", side_effect=AssertionError("not plain")),
    ):
        yield


def by_pydantic(function: Callable[..., Any]) -> Signature:
    with (
        patch.object(plain_types, "plain_arguments", side_effect=plain_types.NotPlainError),
        patch.object(plain_types, "plain_result", side_effect=plain_types.NotPlainError),
        patch("pegboard.schemas.output_types._is_plain", return_value=False),
    ):
        return compile_signature(function)


def bound(signature: Signature, arguments: Any) -> str:
    """Return the arguments of the function, or the message of the error."""
    try:
        return repr(signature.bind(arguments))
    except ToolInputError as error:
        return str(error)


def given_back(signature: Signature, value: Any) -> str:
    try:
        return repr(signature.result(value))
    except ToolOutputError as error:
        return f"{error}: {error.developer_message}"


@settings(max_examples=25)
@given(PARAMETERS, st.lists(VALUES, max_size=8))
def test_parameters_are_the_same_as_with_pydantic(parameter: tuple[Any, Any], values: list[Any]) -> None:
    function = function_of(*parameter)
    with plainly():
        plain = compile_signature(function)
    full = by_pydantic(function)
    assert to_json(plain.input_schema) == to_json(full.input_schema)
    name = next(iter(plain.input_schema["properties"]))
    for arguments in ({}, {name: 1, "b": 2}, *({name: value} for value in values)):
        assert bound(plain, arguments) == bound(full, arguments)


@settings(max_examples=25)
@given(TYPES.filter(lambda kind: kind not in (str, None)), st.lists(VALUES, max_size=8))
def test_results_are_the_same_as_with_pydantic(annotation: Any, values: list[Any]) -> None:
    function = function_of(int, result=annotation)
    with plainly():
        plain = compile_signature(function)
    full = by_pydantic(function)
    assert to_json(plain.output_schema) == to_json(full.output_schema)
    for value in values:
        assert given_back(plain, value) == given_back(full, value)


def observed(compiled: Callable[[Any], Signature], function: Any, values: list[Any]) -> list[Any]:
    """Return the schemas of a function, and what it makes of values; or the message that refuses its types."""
    try:
        signature = compiled(function)
    except ToolDefinitionError as error:
        return [str(error)]
    outcomes = [(bound(signature, {"a": value}), given_back(signature, value)) for value in values]
    return [to_json(signature.input_schema), to_json(signature.output_schema), *outcomes]


@settings(max_examples=100)
@given(ATOMS | st.sampled_from(GENERICS), st.lists(st.sampled_from(WRAPPERS), max_size=3), st.lists(VALUES, max_size=4))
def test_every_generic_is_the_same_as_with_pydantic(generic: Any, wrappers: list[Any], values: list[Any]) -> None:
    for wrap in wrappers:
        with suppress(TypeError):  # not a type for `typing`
            generic = wrap(generic)
    for function in (function_of(generic), function_of(int, result=generic)):
        assert observed(compile_signature, function, values) == observed(by_pydantic, function, values)


LINE = {"number": 1, "text": "abc", "more": 1}
LONGER = {"number": 2, "length": 3, "kind": None}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Line, {"number": 1, "text": "abcd"}),
        (Longer, {"number": 2}),
        (list[Longer], [LONGER]),
        (dict[str, Line], {"a": LINE}),
        (Page[Line], {"items": [LINE], "first": None, "by_name": {"a": LINE}}),
        (Book, {"best": LINE, "others": (LONGER,), "again": None}),
        (Book, {"best": LINE, "others": [LINE], "again": [LINE]}),
        (Tree, {"branches": [{"branches": []}]}),
    ],
    ids=str,
)
def test_typed_dicts_are_written_as_by_pydantic(annotation: Any, value: Any) -> None:
    function = function_of(int, result=annotation)
    signature = compile_signature(function)
    assert signature.output is not None
    assert signature.output.plain is not None
    assert given_back(signature, value) == given_back(by_pydantic(function), value)


OTHERS: st.SearchStrategy[Any] = st.sampled_from(
    [
        Annotated[int, Field(multiple_of=2)],
        Annotated[str, Field(pattern="^[ab]*$")],
        Annotated[dict[str, int], Field(max_length=1)],
        Literal["a", 1, None],  # noqa: PYI061
        tuple[int, str],
    ]
)


@settings(max_examples=25)
@given(TYPES | LIMITED | OTHERS, VALUES, st.booleans())
@example(Literal["a", 1, None], True, True)  # noqa: PYI061
@example(Literal[0, 2], False, True)
def test_a_validator_agrees_with_its_schema(annotation: Any, value: Any, strict: bool) -> None:
    signature = compile_signature(function_of(annotation), strict=strict)
    fits = WithoutFractions(signature.input_schema).is_valid({"a": value})
    accepted = bound(signature, {"a": value}).startswith("{")
    assert accepted == fits if strict else accepted or not fits


@with_config(ConfigDict(ser_json_inf_nan="null"))
class Configured(TypedDict):
    number: float


class Aliased(TypedDict):
    number: Annotated[int, Field(serialization_alias="n")]


class Negated(TypedDict):
    number: Annotated[int, PlainSerializer(lambda number: -number)]


@pytest.mark.parametrize(
    "annotation", [Configured, Aliased, Negated, list[Negated], Literal["a", 1], set[int], int | str]
)
def test_types_that_pydantic_may_write_in_another_way_have_no_plain_validator(annotation: Any) -> None:
    output, _ = compile_output(annotation)
    assert output is not None
    assert output.plain is None


def test_other_types_are_compiled_by_pydantic() -> None:
    parameters: list[Any] = [
        Annotated[int, Field(multiple_of=2)], Annotated[int, Field(strict=True)], Annotated[str, Field(pattern="^a")],
        Annotated[str, Field(title="A")], Annotated[str, Field(default="a")], Annotated[str, Field(ge=1)],
        Annotated[int, Ge(1), Ge(2)], Annotated[bool, Field(ge=1)], Literal["a", 1], int | str, Line, set,
    ]  # fmt: skip
    for annotation in parameters:
        with plainly(), pytest.raises(AssertionError, match="not plain"):
            compile_signature(function_of(annotation))
