"""A function's signature, compiled once: JSON Schemas for clients, validators for calls.

What a type means is pydantic's business, but for those so plain that it need not be asked (`plain_types.py`); here
a signature becomes one TypedDict, so that parameters may have any name and an absent argument takes the function's
default.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import UnionType
from typing import Annotated, Any, NamedTuple, NotRequired, Union, get_args, get_origin

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaError, SchemaSerializer, SchemaValidator, ValidationError, to_jsonable_python
from typing_extensions import TypedDict

from pegboard.argument_errors import input_error
from pegboard.codec import is_finite
from pegboard.context import Context
from pegboard.contracts import ToolResult
from pegboard.contracts.calls import CONTENT_TYPES
from pegboard.errors import (
    ToolDefinitionError,
    ToolInputError,
    ToolInputSchemaError,
    ToolOutputError,
    ToolOutputSchemaError,
)
from pegboard.schemas import plain_types
from pegboard.schemas.plain_types import NotPlainError, Parameter

_ARGUMENTS = "arguments"
_CONTENT = "pegboard.contracts.content"
"""The module of the records of content, which is loaded only where there is some."""
_AT_HAND = frozenset((dict, list, tuple, str, int, float, bool, type(None)))
"""Results of these very types are no iterators."""
_TEXT = (str, type(None), Any, object, bytes, inspect.Signature.empty)
"""Results of these types carry no schema: they are sent as text, or as whatever they turn out to be."""


class _Schemas(GenerateJsonSchema):
    """Without the titles that pydantic makes of names, which cost tokens and say nothing."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - the base class's own form

    def encode_default(self, dft: Any) -> Any:
        # pydantic builds a whole adapter for each default, a third of the time that a signature takes
        return dft if dft is None or type(dft) in (bool, int, str) else super().encode_default(dft)

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _Output(NamedTuple):
    validator: Any
    serializer: Any


class Signature(NamedTuple):
    """What a tool's function takes and gives.

    Attributes:
        input_schema: JSON Schema of the arguments, an object.
        output_schema: JSON Schema of the result, None when it is text or nothing is known.
        context_parameter: the parameter that takes the Context, None when there is none.
        validate: makes the arguments of the call into those of the function.
        renamed: the parameters that have another name in the schema, by that name.
        output: pydantic's view of the result, None where it is told by hand.
        checked: checks the result against an author's own schema, in place of `output`.
        may_be_content: whether the result may be content or an MCP result.
    """

    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    context_parameter: str | None
    validate: Callable[[Any], dict[str, Any]]
    renamed: Mapping[str, str]
    output: _Output | None
    checked: Callable[[Any], Any] | None = None
    may_be_content: bool = True

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments for the function.

        Raises:
            ToolInputError: the arguments do not fit; one short line for each that does not.
        """
        try:
            keywords = self.validate(arguments)
        except ToolInputError:
            raise
        except ValidationError as error:
            raise input_error(error, arguments) from None
        except Exception as error:
            raise ToolInputError("Invalid arguments.", str(error)) from error
        if self.renamed:
            return {self.renamed.get(name, name): value for name, value in keywords.items()}
        return keywords

    def result(self, value: Any) -> Any:
        """The function's result as a JSON-ready value; content, and MCP results written out, as a `ToolResult`.

        Raises:
            ToolOutputError: it is not what the function declares, or JSON has no form for it.
        """
        if type(value) is str and self.output_schema is None:
            return value
        if type(value) not in _AT_HAND and isinstance(value, Iterator | AsyncIterator):
            # taking it to its end could take for ever
            raise ToolOutputError("The tool returned an iterator.", "return a list")
        if self.may_be_content and _may_be_content(value) and (found := self._content(value)) is not None:
            return found
        return self._plain(value)

    def _plain(self, value: Any) -> Any:
        if self.output is None and self.checked is None:
            if value is None or isinstance(value, str):
                return value
            return _jsonable(value)
        try:
            if self.output is None:
                return self.checked(value)  # type: ignore[misc]
            checked = self.output.validator.validate_python(value)
            plain = self.output.serializer.to_python(checked, mode="json", by_alias=True)
            if not is_finite((plain,)):
                raise ValueError("JSON has no form for NaN and infinities")
        except Exception as error:
            raise ToolOutputError(
                "The tool returned a result that does not fit its own declaration.", str(error)
            ) from error
        return plain

    def _content(self, value: Any) -> ToolResult | None:
        from pegboard.content.returned import tool_result

        is_free = self.output_schema is None
        return tool_result(value, _jsonable if is_free else self._plain, is_free=is_free)


def compile_signature(
    function: Callable[..., Any],
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    *,
    with_result: bool = True,
) -> Signature:
    """Compile a function's signature, and the schemas that its author gave in place of types.

    Args:
        function: the function.
        input_schema: in place of what its parameters say.
        output_schema: in place of what it declares to return.
        with_result: False for one whose result is no value with a schema, such as a prompt's.

    Raises:
        ToolInputSchemaError: a parameter cannot be described; the message names it and says how to mend it.
        ToolOutputSchemaError: the result cannot be described.
        ToolDefinitionError: an annotation names something that does not exist.
    """
    parameters = _parameters(function)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(
            "it is a generator; return a list, and report progress with `context.progress.report`"
        )
    hints = _hints(function)
    given, renamed, context = _sorted(parameters, hints, declared=input_schema is not None)
    schema, validate = _input(given)
    empty = inspect.Signature.empty
    output, promised = _output(hints.get("return", empty) if output_schema is None and with_result else empty)
    is_open = promised is None or not (promised.get("properties") or promised.get("items") or "$ref" in promised)
    signature = Signature(schema, promised, context, validate, renamed, output, None, is_open)
    if input_schema is None and output_schema is None:
        return signature
    return _declared(signature, parameters, hints, input_schema, output_schema)


def _sorted(
    parameters: Iterable[inspect.Parameter], hints: Mapping[str, Any], *, declared: bool
) -> tuple[dict[str, Parameter], dict[str, str], str | None]:
    """The parameters by the names of arguments, those of other names, and the one that takes the Context."""
    given: dict[str, Parameter] = {}
    renamed: dict[str, str] = {}
    context_parameter = None
    for parameter in parameters:
        annotation = hints.get(parameter.name, parameter.annotation)
        if _is_context(annotation):
            if context_parameter is not None:
                raise ToolInputSchemaError(
                    f"parameters {context_parameter!r} and {parameter.name!r} both take the Context"
                )
            context_parameter = parameter.name
            continue
        if declared:
            continue
        one = _given(parameter, annotation)
        if one.name in given:
            raise ToolInputSchemaError(f"two parameters are called {one.name!r}")
        if one.name != parameter.name:
            renamed[one.name] = parameter.name
        given[one.name] = one
    return given, renamed, context_parameter


def _declared(
    signature: Signature,
    parameters: Sequence[inspect.Parameter],
    hints: Mapping[str, Any],
    input_schema: Mapping[str, Any] | None,
    output_schema: Mapping[str, Any] | None,
) -> Signature:
    """A signature with the schemas that its author gave."""
    from pegboard.schemas.declared import compile_arguments, compile_result

    if input_schema is not None:
        own = signature.context_parameter
        others = [parameter for parameter in parameters if parameter.name != own]
        arguments = compile_arguments(input_schema, others, hints, own)
        signature = signature._replace(input_schema=arguments.schema.schema, validate=arguments.keywords)
    if output_schema is not None:
        checked, schema = compile_result(output_schema)
        signature = signature._replace(output_schema=schema, checked=checked)
    return signature


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The parameter of a function that takes the Context, None when there is none.

    Raises:
        ToolDefinitionError: an annotation names something that does not exist.
    """
    hints = _hints(function)
    return next((one.name for one in _parameters(function) if _is_context(hints.get(one.name))), None)


def _is_context(annotation: Any) -> bool:
    """Whether a parameter takes the Context: annotated so, with or without `| None` or Annotated around it."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(_is_context(part) for part in get_args(annotation))
    return annotation is Context


def _parameters(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(f"it has no signature that can be read: {error}") from None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target: Any = function
    while isinstance(target, partial):
        target = target.func
    target = inspect.unwrap(target)
    if not inspect.isroutine(target):
        target = type(target).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception as error:  # noqa: BLE001 - annotations are expressions of the author, and may raise anything
        raise ToolDefinitionError(f"an annotation cannot be resolved: {error}") from None


def _given(parameter: inspect.Parameter, annotation: Any) -> Parameter:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise ToolInputSchemaError(
            f"parameter {name!r} takes any number of arguments; name each one that callers may give"
        )
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ToolInputSchemaError(f"parameter {name!r} is positional-only; remove the `/` after it")
    if annotation is typing.Self:
        raise ToolInputSchemaError(f"parameter {name!r}: Self stands for nothing here; name the type")
    if annotation is parameter.empty:
        raise ToolInputSchemaError(f"parameter {name!r} has no type annotation; write one, such as `{name}: str`")
    if get_origin(annotation) is not Annotated:
        return Parameter(name, annotation, (), None, parameter.default)
    inner, *extras = get_args(annotation)
    name, description = _texts(name, extras)
    rest = [extra for extra in extras if not isinstance(extra, str)]
    return Parameter(name, inner, rest, description, parameter.default)


def _texts(name: str, extras: Sequence[Any]) -> tuple[str, str | None]:
    """Texts inside Annotated: one describes the parameter, of two the first renames it."""
    texts = [extra for extra in extras if isinstance(extra, str)]
    if len(texts) > 2:
        raise ToolInputSchemaError(
            f"parameter {name!r} has {len(texts)} texts in Annotated; give a description, or a name and a description"
        )
    return (texts[0] if len(texts) == 2 else name), (texts[-1] if texts else None)


def _field(given: Parameter) -> Any:
    """The TypedDict field of one parameter."""
    extras = list(given.extras)
    if given.description is not None:
        extras.append(Field(description=given.description))
    required = given.default is inspect.Parameter.empty
    if isinstance(given.default, FieldInfo):
        extras.append(given.default)
        required = given.default.is_required()
    elif not required:
        extras.append(Field(default=given.default))
    annotation = Annotated[(given.type, *extras)] if extras else given.type
    return annotation if required else NotRequired[annotation]


def _input(given: Mapping[str, Parameter]) -> tuple[dict[str, Any], Callable[[Any], dict[str, Any]]]:
    try:
        core, schema = plain_types.arguments(given.values(), _ARGUMENTS)
        return schema, SchemaValidator(core).validate_python
    except (NotPlainError, SchemaError):  # what is wrong, pydantic says
        return _any_input({name: _field(one) for name, one in given.items()})


def _any_input(fields: dict[str, Any]) -> tuple[dict[str, Any], Callable[[Any], dict[str, Any]]]:
    make: Any = TypedDict  # made of a signature, not written down: no type checker can follow
    arguments = make(_ARGUMENTS, fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", hide_input_in_errors=True)
    try:
        adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(arguments)
        schema = adapter.json_schema(schema_generator=_Schemas)
    except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
        raise ToolInputSchemaError(_culprit(fields) or _in_one_line(error)) from None
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema, adapter.validator.validate_python


def _output(annotation: Any) -> tuple[_Output | None, dict[str, Any] | None]:
    if get_origin(annotation) is Annotated and get_args(annotation)[0] in _TEXT:
        return None, None
    if any(annotation is text for text in _TEXT) or _is_content(annotation):
        return None, None
    try:
        core, schema = plain_types.result(annotation)
        return _Output(SchemaValidator(core), SchemaSerializer(core)), schema
    except (NotPlainError, SchemaError):
        return _any_output(annotation)


def _any_output(annotation: Any) -> tuple[_Output, dict[str, Any]]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = adapter.json_schema(schema_generator=_Schemas, mode="serialization")
    except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
        raise ToolOutputSchemaError(f"the result: {_why(annotation, error)}") from None
    return _Output(adapter.validator, adapter.serializer), schema


def _is_content(annotation: Any) -> bool:
    """Whether a result is declared to be content: a block, some of them, or a whole result."""
    if get_origin(annotation) in (Annotated, Union, UnionType, list, tuple, Sequence):
        return any(_is_content(part) for part in get_args(annotation))
    return annotation is ToolResult or getattr(annotation, "__module__", "") == _CONTENT


def _may_be_content(value: Any) -> bool:
    """Whether a result is worth a closer look; said without loading what content is."""
    kind = type(value)
    if kind is dict:
        return "content" in value
    if kind is list or kind is tuple:
        return bool(CONTENT_TYPES) and not CONTENT_TYPES.isdisjoint(map(type, value))
    return kind is ToolResult or kind in CONTENT_TYPES


def _culprit(fields: dict[str, Any]) -> str | None:
    """Which parameter it is that cannot be described."""
    for name, field in fields.items():
        inner = get_args(field)[0] if get_origin(field) is NotRequired else field
        try:
            TypeAdapter(inner).json_schema(schema_generator=_Schemas)
        except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
            return f"parameter {name!r}: {_why(inner, error)}"
    return None


def _why(annotation: Any, error: Exception) -> str:
    if isinstance(error, (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema)):
        return f"the type {inspect.formatannotation(annotation)} has no JSON Schema"
    return _in_one_line(error)


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split("For further information")[0].split())[:300].rstrip(": ") or type(error).__name__


def _jsonable(value: Any) -> Any:
    try:
        return to_jsonable_python(value, inf_nan_mode="constants", bytes_mode="base64")
    except (TypeError, ValueError) as error:
        raise ToolOutputError("The tool returned a result that JSON has no form for.", str(error)) from error
