"""Functions whose author wrote the JSON Schema of the arguments or of the result.

The function receives the arguments unchanged. They are not converted, and defaults in the schema are not applied.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, get_origin

from pydantic_core import to_jsonable_python

from pegboard.errors import ToolInputError, ToolInputSchemaError, ToolOutputSchemaError
from pegboard.messages.argument_errors import schema_error
from pegboard.messages.error_words import line
from pegboard.schemas.json_schema import JsonSchema, compile_schema
from pegboard.wire.codec import is_finite, with_base64

_MAPPINGS = (dict, Mapping)


class Arguments(NamedTuple):
    """The author's schema of the arguments, and the function's parameters for them.

    Attributes:
        schema: the JSON Schema of the arguments.
        whole: the parameter that receives all arguments as one dict, or None if each argument has its own parameter.
        named: the parameters of the function, or None if the function accepts any keyword arguments.
        reserved: the parameters that the host fills in: the Context and dependencies.
    """

    schema: JsonSchema
    whole: str | None
    named: frozenset[str] | None
    reserved: Collection[str]

    def keywords(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of the function.

        Raises:
            ToolInputError: the arguments do not fit the schema.
        """
        if problems := self.schema.problems(arguments):
            raise schema_error(problems, self.schema.schema)
        if self.whole is not None:
            return {self.whole: dict(arguments)}
        if self.named is not None:
            return {name: value for name, value in arguments.items() if name in self.named}
        for name in self.reserved:
            if name in arguments:
                raise ToolInputError(f"Invalid arguments:\n{name} is not a parameter of this tool")
        return dict(arguments)


def compile_arguments(
    authored: Any, parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], reserved: Collection[str]
) -> Arguments:
    """Compile the schema of a function's arguments.

    Args:
        given: the schema.
        parameters: the parameters of the function, except for `reserved`.
        hints: their types.
        reserved: the parameters that the host fills in: the Context and dependencies.

    Raises:
        ToolInputSchemaError: the schema is invalid, or does not fit the function.
    """
    schema = compile_schema(authored, "its input schema", ToolInputSchemaError)
    if schema.schema.get("type") != "object":
        raise ToolInputSchemaError('the input schema must have `"type": "object"` at its root')
    properties = schema.schema.get("properties", {})
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise ToolInputSchemaError(f"parameter {parameter.name!r} is positional: make it a keyword parameter")
    if clashing := [name for name in reserved if name in properties]:
        raise ToolInputSchemaError(
            f"the property {clashing[0]!r} has the name of a parameter that the host fills in: rename the parameter"
        )
    if len(parameters) == 1 and _takes_all(parameters[0], hints) and parameters[0].name not in properties:
        return Arguments(schema, parameters[0].name, None, reserved)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        parameters = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
        named = None
    else:
        named = frozenset(parameter.name for parameter in parameters)
        if strange := sorted(set(properties) - named):
            raise ToolInputSchemaError(
                f"the function has no parameter for the property {strange[0]!r}: add the parameter or `**arguments`"
            )
    required = schema.schema.get("required", ())
    for parameter in parameters:
        if parameter.default is parameter.empty and parameter.name not in required:
            raise ToolInputSchemaError(
                f"parameter {parameter.name!r} has no default, and the input schema does not require it: "
                "add a default or require the property"
            )
    return Arguments(schema, None, named, reserved)


def _takes_all(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> bool:
    hint = hints.get(parameter.name, parameter.annotation)
    named = parameter.kind is not parameter.VAR_KEYWORD
    return named and (hint in _MAPPINGS or get_origin(hint) in _MAPPINGS)


def compile_result(authored: Any) -> tuple[Callable[[Any], Any], dict[str, Any]]:
    """Compile the author's schema of a result. Return the function that converts and validates results, and the schema.

    Raises:
        ToolOutputSchemaError: the schema is invalid.
    """
    schema = compile_schema(authored, "its output schema", ToolOutputSchemaError)

    def checked(value: Any) -> Any:
        plain = to_jsonable_python(with_base64(value), inf_nan_mode="constants", bytes_mode="base64", by_alias=True)
        if not is_finite(plain):
            raise ValueError("JSON cannot express NaN and infinities")
        if problems := schema.problems(plain):
            raise ValueError("; ".join(line(path, text) for path, text in problems[:10]))
        return plain

    return checked, schema.schema
