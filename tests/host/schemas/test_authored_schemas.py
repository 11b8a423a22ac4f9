"""Functions whose author wrote the schemas: arguments and results."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel, Field

from pegboard import Context, ToolDefinitionError, ToolInputError
from pegboard.errors import ToolInputSchemaError, ToolOutputError, ToolOutputSchemaError
from pegboard.schemas.signature import Signature, compile_signature

AB = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string", "default": "x"}},
    "required": ["a"],
}


def signature(function: Callable[..., Any], schema: Any = AB, result: Any = None) -> Signature:
    return compile_signature(function, schema, result)


def any_keywords(**arguments: Any) -> Any: ...
def some_and_any(a: int, **rest: Any) -> Any: ...
def named(a: int, b: str = "default") -> Any: ...
def named_without_types(a, b=None): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
def keyword_only(*, a: Any, b: Any = 1) -> Any: ...
def whole(arguments: dict[str, Any]) -> Any: ...
def whole_plain(arguments: dict) -> Any: ...  # type: ignore[type-arg]
def whole_mapping(arguments: Mapping[str, Any]) -> Any: ...
def whole_with_context(context: Context, arguments: dict[str, Any]) -> Any: ...
def keywords_with_context(context: Context | None, **arguments: Any) -> Any: ...


@pytest.mark.requirement("SCHEMA-01")
@pytest.mark.parametrize("function", [any_keywords, some_and_any, named, named_without_types, keyword_only])
def test_arguments_are_passed_by_name_and_unchanged(function: Callable[..., Any]) -> None:
    compiled = signature(function)
    assert compiled.bind({"a": 1}) == {"a": 1}  # no default of the schema is filled in
    assert compiled.bind({"a": 1.0, "b": "y"}) == {"a": 1.0, "b": "y"}
    with pytest.raises(ToolInputError, match="a: must be an integer"):
        compiled.bind({"a": "1"})  # nothing is converted


@pytest.mark.parametrize("function", [whole, whole_plain, whole_mapping, whole_with_context])
def test_arguments_are_passed_as_one_dict(function: Callable[..., Any]) -> None:
    sent = {"a": 1, "context": 2, "a-b": 3}
    keywords = signature(function).bind(sent)
    assert keywords == {"arguments": sent}
    assert keywords["arguments"] is not sent


def test_a_property_with_the_name_of_the_only_parameter_is_that_parameter() -> None:
    schema = {"type": "object", "properties": {"arguments": {"type": "object"}}, "required": ["arguments"]}
    assert signature(whole, schema).bind({"arguments": {"a": 1}}) == {"arguments": {"a": 1}}


def test_arguments_without_a_parameter_are_left_out() -> None:
    assert signature(named).bind({"a": 1, "c": 2}) == {"a": 1}
    assert signature(any_keywords).bind({"a": 1, "not-a-name": 3}) == {"a": 1, "not-a-name": 3}
    assert signature(lambda: None, {"type": "object"}).bind({"a": 1}) == {}


def test_an_argument_cannot_replace_the_context() -> None:
    compiled = signature(keywords_with_context)
    assert compiled.context_parameter == "context"
    with pytest.raises(ToolInputError, match="context is not a parameter of this tool"):
        compiled.bind({"a": 1, "context": 5})


@pytest.mark.requirement("SCHEMA-10")
def test_a_schema_without_parameters() -> None:
    compiled = signature(any_keywords, {"type": "object", "additionalProperties": False})
    assert compiled.bind({}) == {}
    with pytest.raises(ToolInputError, match=r"^Invalid arguments:\na is not a parameter of this tool\nb is not"):
        compiled.bind({"a": 1, "b": 2})


def positional(a: int, /) -> Any: ...
def a_alone(a: int) -> Any: ...
def context_called_a(a: Context, **rest: Any) -> Any: ...
def generator(**arguments: Any) -> Any:
    yield 1


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (positional, "parameter 'a' is positional"),
        (a_alone, "no parameter for the property 'b': add the parameter or `\\*\\*arguments`"),
        (lambda a, b: 1, "parameter 'b' has no default, and the input schema does not require it: add a default"),
        (lambda a, c, **more: 1, "parameter 'c' has no default"),
        (context_called_a, "the property 'a' has the name of a parameter that the host fills in"),
        (generator, "generator"),
    ],
)
def test_functions_that_do_not_fit_their_schema_are_rejected(function: Callable[..., Any], complaint: str) -> None:
    with pytest.raises(ToolDefinitionError, match=complaint):
        signature(function)


@pytest.mark.requirement("SCHEMA-03", "SCHEMA-09", "TOOL-01")
def test_the_message_names_the_schema_that_is_wrong() -> None:
    for schema in ({}, {"type": "array"}, {"type": ["object"]}, {"$ref": "#/$defs/a", "$defs": {"a": {}}}):
        with pytest.raises(ToolInputSchemaError, match='must have `"type": "object"` at its root'):
            signature(any_keywords, schema)
    with pytest.raises(ToolInputSchemaError, match=r"^its input schema: "):
        signature(any_keywords, {"type": 5})
    with pytest.raises(ToolOutputSchemaError, match=r"^its output schema: "):
        signature(named, None, {"type": 5})


def test_the_length_of_a_message_is_limited() -> None:
    compiled = signature(any_keywords, {"type": "object", "additionalProperties": {"type": "integer"}})
    with pytest.raises(ToolInputError) as rejected:
        compiled.bind({"n" * 200 + str(at): "x" * 5000 for at in range(30)})
    assert len(rejected.value.message) < 1_000


class Model(BaseModel):
    day: datetime.date = Field(serialization_alias="when")


@dataclasses.dataclass
class Data:
    when: datetime.date


DAY = datetime.date(2026, 7, 28)
WHEN = {
    "type": "object",
    "properties": {"when": {"type": "string"}},
    "required": ["when"],
    "additionalProperties": False,
}


def strange() -> Callable[[], object]: ...  # type: ignore[empty-body]


@pytest.mark.parametrize("function", [strange, named])
@pytest.mark.parametrize("value", [Model(day=DAY), Data(DAY), {"when": DAY}])
def test_a_result_becomes_json_and_is_checked(function: Callable[..., Any], value: Any) -> None:
    compiled = signature(function, None, WHEN)
    assert compiled.output_schema == WHEN
    assert compiled.result(value) == {"when": "2026-07-28"}
    assert signature(function, None, {"type": "array"}).result([1]) == [1]


@pytest.mark.requirement("TOOL-18")
@pytest.mark.parametrize("value", [None, {"when": 5}, {"when": "x", "more": 1}, [], {"when": object()}, iter([])])
def test_a_result_that_does_not_fit_is_an_error(value: Any) -> None:
    with pytest.raises(ToolOutputError) as refused:
        signature(named, None, WHEN).result(value)
    assert "when" not in refused.value.message  # the model cannot mend it, the log says more


def test_types_and_schemas_can_be_combined() -> None:
    compiled = signature(named, None, {"type": "integer"})
    assert compiled.bind({"a": "1"}) == {"a": 1, "b": "default"}  # by the types

    def typed(**arguments: Any) -> list[int]: ...  # type: ignore[empty-body]

    compiled = signature(typed)
    assert compiled.output_schema == {"type": "array", "items": {"type": "integer"}}
    assert compiled.result([1]).value == [1]
