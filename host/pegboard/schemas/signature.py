"""The signature of a function, compiled once: JSON Schemas for clients, validators for calls.

`functions` reads the parameters. `plain_types` compiles simple types, and `pydantic_types` compiles all others.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic_core import CoreSchema, SchemaError, SchemaValidator, ValidationError, to_json

from pegboard.errors import (
    ToolInputError,
    ToolOutputError,
)
from pegboard.schemas import plain_types
from pegboard.schemas.functions import MISSING, hints_of, parameters_of, parts
from pegboard.schemas.output_types import Output, accepts_none, compile_output, is_open_object
from pegboard.schemas.plain_types import NotPlainError, Parameter
from pegboard.types.callers import EMPTY
from pegboard.types.calls import CONTENT_TYPES, ToolResult
from pegboard.wire.codec import decode, encode, json_value
from pegboard.wire.encoded_result import EncodedResult

if TYPE_CHECKING:
    from pegboard.schemas.dependencies import Dependency
    from pegboard.types.parameters import ArgumentChange

_MISFIT = "The tool returned a result that does not fit its own declaration."
_AT_HAND = frozenset((dict, list, tuple, str, int, float, bool, type(None)))
"""The types of results that are not iterators."""
_BRACKETS = b"{["
Input: TypeAlias = tuple[dict[str, Any], Callable[[Any], dict[str, Any]]]
"""The schema of arguments, and their validator."""


class Signature(NamedTuple):
    """The arguments and the result of a tool's function.

    Attributes:
        input_schema: the JSON Schema of the arguments.
        output_schema: the JSON Schema of the result, or None for strings and unknown types.
        context_parameter: the parameter that receives the Context, if any.
        validate: validates and converts the arguments of a call.
        renamed: the parameters whose name differs from the name in the schema, by the name in the schema.
        output: the validator of the result, if its type has a schema.
        checked: validates the result against the author's schema. Used instead of `output`.
        may_be_content: True if the result may be content or an MCP result.
        dependencies: the dependencies of the function, by the parameter that each fills in.
        exact: the arguments in which JSON in a string is never decoded.
        accepts_none: False if None does not fit a result type without a schema, such as str.
    """

    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    context_parameter: str | None
    validate: Callable[[Any], dict[str, Any]]
    renamed: Mapping[str, str]
    output: Output | None
    checked: Callable[[Any], Any] | None = None
    may_be_content: bool = True
    dependencies: Mapping[str, Dependency] = EMPTY
    exact: Collection[str] = ()
    accepts_none: bool = True

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of the function.

        Raises:
            ToolInputError: the arguments are invalid. The message has one line for each invalid field.
        """
        try:
            try:
                keywords = self.validate(arguments)
            except ValidationError as error:
                keywords = self._decoded(arguments, error)
        except ToolInputError:
            raise
        except Exception as error:
            raise ToolInputError("Invalid arguments.", str(error)) from error
        if self.renamed:
            return {self.renamed.get(name, name): value for name, value in keywords.items()}
        return keywords

    def _decoded(self, arguments: Mapping[str, Any], error: ValidationError) -> dict[str, Any]:
        """Validate arguments that did not fit once more, with the objects and lists that are JSON in a string."""
        from pegboard.schemas.exact_types import decoded_strings

        decoded = decoded_strings(error, arguments, self.input_schema, self.exact)
        if decoded is None:
            raise _invalid(error, arguments, self.input_schema) from None
        try:
            return self.validate(decoded)
        except ValidationError as wrong:
            raise _invalid(wrong, decoded, self.input_schema) from None

    def result(self, value: Any, is_json: bool = False) -> Any:
        """Convert the result of the function to a `ToolResult`, or to a JSON-ready string, number or boolean.

        Args:
            value: the value that the function returned.
            is_json: True if the value is known to be JSON-ready.

        Raises:
            ToolOutputError: the result does not fit the declared type, or JSON cannot express it.
        """
        kind, output = type(value), self.output
        if (output is not None and kind is output.sound) or (kind is str and self.output_schema is None):
            return value
        if value is None and not self.accepts_none:
            raise ToolOutputError(_MISFIT, "it returned None: return a value, or add `| None` to the result type")
        if kind not in _AT_HAND and isinstance(value, Iterator | AsyncIterator):
            # it may have no end
            raise ToolOutputError("The tool returned an iterator.", "return a list")
        is_content = isinstance(value, ToolResult) or (self.may_be_content and _may_be_content(value))
        if is_content and (content := self._content(value)) is not None:
            return content
        return self._plain(value, is_json)

    def _plain(self, value: Any, is_json: bool) -> Any:
        if self.output is None and self.checked is None:
            if value is None or isinstance(value, str):
                return value
            return _encoded(_unchecked(value, is_json), structured=False)
        try:
            if self.output is None:
                return self.checked(value)  # type: ignore[misc]
            return _encoded(self.output.encoded(value, is_json), structured=True)
        except ValidationError as error:
            from pegboard.messages.argument_errors import output_problems  # most results fit

            raise ToolOutputError(_MISFIT, output_problems(error, value)) from None
        except Exception as error:
            from pegboard.content.function_results import json_problem

            raise ToolOutputError(_MISFIT, json_problem(error)) from error

    def _content(self, value: Any) -> ToolResult | None:
        from pegboard.content.function_results import tool_result

        is_free = self.output_schema is None
        return tool_result(value, self._content_value, is_free=is_free)

    def _content_value(self, value: Any) -> Any:
        """Return the value of a `ToolResult` as JSON-ready data."""
        plain = self._plain(value, is_json=False)
        return plain.value if type(plain) is EncodedResult else plain


def compile_signature(
    function: Callable[..., Any],
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    with_result: bool = True,
    changes: Mapping[str, ArgumentChange] = EMPTY,
    documented: Mapping[str, str] = EMPTY,
) -> Signature:
    """Compile the signature of a function.

    Args:
        function: the function.
        input_schema: the author's schema of the arguments, used instead of the parameters' types.
        output_schema: the author's schema of the result, used instead of the return type.
        strict: True to convert arguments only to types that JSON lacks.
        with_result: False to compile no schema for the result, for example for prompts.
        changes: changes of the arguments, by their names.
        documented: descriptions of parameters in the docstring.

    Raises:
        ToolInputSchemaError: a parameter has no schema. The message names the parameter and the fix.
        ToolOutputSchemaError: the result has no schema.
        ToolDefinitionError: an annotation cannot be resolved.
    """
    parameters = parameters_of(function)
    hints = hints_of(function)
    parsed = parts(parameters, hints, declared=input_schema is not None, documented=documented)
    if changes and input_schema is None:
        from pegboard.schemas.changed_arguments import change_parameters

        parsed, (schema, validate) = change_parameters(parsed, changes, partial(_compiled, strict=strict))
    else:
        schema, validate = _compiled(parsed.parameters, strict=strict)
    result = hints.get("return", MISSING) if output_schema is None and with_result else MISSING
    output, promised = compile_output(result)
    is_open = promised is None or is_open_object(promised)
    exact = schema["properties"] if strict else plain_types.strict_names(parsed.parameters)
    signature = Signature(
        schema,
        promised,
        parsed.context,
        validate,
        parsed.renamed,
        output,
        may_be_content=is_open,
        exact=exact,
        accepts_none=output is not None or accepts_none(result),
    )
    if parsed.depends:
        from pegboard.schemas.dependencies import compile_dependencies

        signature = signature._replace(dependencies=compile_dependencies(parsed.depends))
    if input_schema is None and output_schema is None:
        return signature
    return _declared(signature, parameters, hints, input_schema, output_schema, changes)


def _declared(
    signature: Signature,
    parameters: Sequence[inspect.Parameter],
    hints: Mapping[str, Any],
    input_schema: Mapping[str, Any] | None,
    output_schema: Mapping[str, Any] | None,
    changes: Mapping[str, ArgumentChange],
) -> Signature:
    """Return a signature with the author's schemas."""
    from pegboard.schemas.authored_schemas import compile_arguments, compile_result

    if input_schema is not None:
        own = signature.context_parameter
        reserved = [*signature.dependencies] if own is None else [own, *signature.dependencies]
        others = [parameter for parameter in parameters if parameter.name not in reserved]
        arguments = compile_arguments(input_schema, others, hints, reserved)
        schema = arguments.schema.schema
        validate: Callable[[Any], dict[str, Any]] = arguments.keywords
        if changes:
            from pegboard.schemas.changed_arguments import change_schema

            schema, validate = change_schema(arguments, changes)
        signature = signature._replace(input_schema=schema, validate=validate)
    if output_schema is not None:
        checked, schema = compile_result(output_schema)
        signature = signature._replace(output_schema=schema, checked=checked)
    return signature


def _compiled(parameters: Mapping[str, Parameter], *, strict: bool) -> Input:
    try:
        core, schema = plain_types.plain_arguments(parameters.values())
        validator = SchemaValidator(core)
    except (NotPlainError, SchemaError):  # pydantic reports the problem
        from pegboard.schemas import pydantic_types

        validator, core, schema = pydantic_types.pydantic_arguments(parameters)
        return schema, _reader(validator, core, schema, strict=strict)
    return schema, _reader(validator, core, schema, strict=True) if strict else _checker(validator, schema)


def _checker(validator: SchemaValidator, schema: dict[str, Any]) -> Callable[[Any], dict[str, Any]]:
    """Return a validator for plain types. To save time, the validator first validates without conversion."""
    check = validator.validate_python

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        validated: dict[str, Any]
        try:
            validated = check(arguments, strict=True)
        except ValidationError:
            validated = check(arguments)
            _refuse_booleans(arguments, schema)
        return validated

    return validate


def _reader(
    validator: Any, core: CoreSchema, schema: dict[str, Any], *, strict: bool
) -> Callable[[Any], dict[str, Any]]:
    """Return a validator that reads the arguments as JSON, so that even strict types accept their JSON form.

    Arguments that need no conversion are not encoded.
    """
    from pegboard.schemas.exact_types import exact_validator  # most tools have plain types

    read = validator.validate_json
    exact = cache(partial(exact_validator, core, strict=strict))  # compiled at the first call
    level = True if strict else None
    text = to_json(schema)
    has_numbers = any(word in text for word in (b'"integer"', b'"number"', b'"enum"'))

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        if (check := exact()) is not None:
            try:
                return check(arguments)
            except ValidationError:
                pass
        text = to_json(arguments)
        validated: dict[str, Any] = read(text, strict=level)
        if has_numbers and (b"true" in text or b"false" in text):
            _refuse_booleans(arguments, schema)
        return validated

    return validate


def _refuse_booleans(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Reject booleans in place of numbers, in arguments that pydantic accepts."""
    from pegboard.schemas.booleans import misplaced

    if problems := misplaced(arguments, schema):
        from pegboard.messages.argument_errors import schema_error

        raise schema_error(problems)


def _invalid(error: ValidationError, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> ToolInputError:
    """Return the error for arguments that pydantic rejects. It includes booleans in place of numbers."""
    from pegboard.messages.argument_errors import input_error
    from pegboard.schemas.booleans import misplaced

    return input_error(error, arguments, schema, misplaced(arguments, schema))


def _may_be_content(value: Any) -> bool:
    """Return True if a result may be content, without importing the content types."""
    kind = type(value)
    if kind is dict:
        if "content" in value:
            return True
        return bool(CONTENT_TYPES) and not CONTENT_TYPES.isdisjoint(map(type, value.values()))
    if kind is list or kind is tuple:
        return bool(CONTENT_TYPES) and not CONTENT_TYPES.isdisjoint(map(type, value))
    return kind in CONTENT_TYPES


def _encoded(value: bytes, *, structured: bool) -> Any:
    """Return an object or array as a result with this JSON. Return any other value itself."""
    return EncodedResult.of(value, structured=structured) if value[0] in _BRACKETS else decode(value)


def _unchecked(value: Any, is_json: bool) -> bytes:
    """Encode a value without a declared type as JSON.

    Raises:
        ToolOutputError: JSON cannot express the value.
    """
    try:
        return encode(value if is_json else json_value(value))
    except (TypeError, ValueError) as error:
        from pegboard.content.function_results import json_problem

        raise ToolOutputError("The tool returned a result that JSON cannot express.", json_problem(error)) from error
