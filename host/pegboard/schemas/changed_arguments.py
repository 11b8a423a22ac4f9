"""Changes of arguments: other names and descriptions, fixed values, and hidden arguments.

Values are checked against the original types or schema. This module is imported only for tools with changes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from pydantic.fields import FieldInfo
from pydantic_core import ValidationError

from pegboard.authoring.transformed import Changes, unknown_argument
from pegboard.errors import ToolDefinitionError, ToolInputError
from pegboard.messages.argument_errors import input_error, schema_error
from pegboard.messages.error_words import UNKNOWN
from pegboard.schemas.authored_schemas import Arguments
from pegboard.schemas.functions import Parts
from pegboard.schemas.json_schema import compile_schema
from pegboard.schemas.plain_types import Parameter
from pegboard.types.parameters import ArgumentChange

Validate: TypeAlias = Callable[[Any], dict[str, Any]]
Compiled: TypeAlias = tuple[dict[str, Any], Validate]
"""A schema of arguments, and its validator."""

_MEMBERS = ("type", "properties", "required", "additionalProperties")
_KEYWORDS = frozenset((*_MEMBERS, "title", "description", "$schema", "$id", "$comment", "$defs", "definitions"))
"""The keywords at the root of an author's schema whose meaning is the same after a change."""


def change_parameters(
    parts: Parts, changes: Changes, compile_input: Callable[[Mapping[str, Parameter]], Compiled]
) -> tuple[Parts, Compiled]:
    """Return the parameters that clients can set, with their schema and the validator of all parameters.

    Args:
        parts: all parameters of the function.
        changes: the changes by the name of the argument.
        compile_input: returns the schema and the validator of parameters.

    Raises:
        ToolDefinitionError: a change is impossible.
    """
    _check_names(changes, parts.parameters)
    kept: dict[str, Parameter] = {}
    removed: dict[str, Parameter] = {}
    renamed: dict[str, str] = {}
    for name, argument in parts.parameters.items():
        change = changes.get(name, ArgumentChange())
        if name in changes and any(
            isinstance(extra, FieldInfo) and extra.alias for extra in (*argument.extras, argument.default)
        ):
            raise ToolDefinitionError(f"argument {name!r} has an alias of pydantic, so it cannot be changed")
        shown = change.name or name
        (removed if change.removes else kept)[shown] = argument._replace(name=shown)
        if shown != (parameter := parts.renamed.get(name, name)):
            renamed[shown] = parameter
        if change.hidden and change.value is ... and _is_required(argument):
            raise _required(name)
    values = {name: change.value for name, change in changes.items() if change.value is not ...}
    schema, validate = compile_input(kept)
    describe(schema, changes)
    if removed:
        validate = _with_values(validate, compile_input(removed)[1], values)
    return parts._replace(parameters=kept, renamed=renamed), (schema, validate)


def _with_values(validate: Validate, convert: Validate, values: dict[str, Any]) -> Validate:
    """Return a validator that adds the values, and the defaults, of arguments that clients cannot set."""
    try:
        convert(values)
    except ValidationError as error:
        raise _wrong_values(input_error(error, values)) from None
    except ToolInputError as error:
        raise _wrong_values(error) from None
    except (TypeError, ValueError):
        raise ToolDefinitionError("a fixed value of an argument is not JSON: use a JSON value") from None
    return lambda arguments: {**validate(arguments), **convert(values)}


def describe(schema: dict[str, Any], changes: Changes) -> None:
    """Replace descriptions in the schema of changed arguments."""
    for name, change in changes.items():
        if change.description is not None:
            shown = change.name or name
            schema["properties"][shown] = {**schema["properties"][shown], "description": change.description}


def change_schema(original: Arguments, changes: Changes) -> Compiled:
    """Return the changed form of an author's schema, and the function that validates arguments.

    Raises:
        ToolDefinitionError: a change is impossible.
    """
    schema = original.schema.schema
    properties, required = schema.get("properties", {}), schema.get("required", ())
    _check_names(changes, properties)
    if unclear := sorted(schema.keys() - _KEYWORDS):
        raise ToolDefinitionError(f"its input schema has {unclear[0]!r} at its root, so arguments cannot be changed")
    for name, change in changes.items():
        if change.hidden and change.value is ... and name in required:
            raise _required(name)
    removed = {name for name, change in changes.items() if change.removes}
    shown = {name: change.name for name, change in changes.items() if change.name is not None}
    kept = [name for name in properties if name not in removed]
    changed: dict[str, Any] = {
        **schema,
        "properties": {shown.get(name, name): properties[name] for name in kept},
        "required": [shown.get(name, name) for name in required if name not in removed],
    }
    describe(changed, changes)
    values = {name: change.value for name, change in changes.items() if change.value is not ...}
    alone = compile_schema({**schema, "required": []}, "its input schema", ToolDefinitionError)
    if wrong := alone.problems(values):
        raise _wrong_values(schema_error(wrong))
    compiled = compile_schema(changed, "its changed input schema", ToolDefinitionError)
    gone = (removed | shown.keys()) - set(changed["properties"])
    originals = {after: before for before, after in shown.items()}

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        problems = compiled.problems(arguments) or [((name,), UNKNOWN) for name in arguments if name in gone]
        if problems:
            raise schema_error(problems, changed)
        own = {originals.get(name, name): value for name, value in arguments.items()}
        return original.keywords({**own, **deepcopy(values)})

    return changed, validate


def change_whole(schema: Mapping[str, Any], whole: str, changes: Changes) -> Compiled:
    """Return the changed form of the schema of another server, whose function has one parameter for all arguments.

    Raises:
        ToolDefinitionError: a change is impossible.
    """
    compiled = compile_schema(schema, "its input schema", ToolDefinitionError)
    return change_schema(Arguments(compiled, whole, None, ()), changes)


def _check_names(changes: Changes, names: Mapping[str, Any]) -> None:
    for name in changes:
        if name not in names:
            raise unknown_argument(name, names)
    shown = [changes[name].name or name if name in changes else name for name in names]
    for name, change in changes.items():
        if change.name is not None and shown.count(change.name) > 1:
            raise ToolDefinitionError(f"argument {name!r} is renamed to {change.name!r}, which is taken")


def _is_required(parameter: Parameter) -> bool:
    default = parameter.default
    return default.is_required() if isinstance(default, FieldInfo) else default is inspect.Parameter.empty


def _required(name: str) -> ToolDefinitionError:
    return ToolDefinitionError(f"argument {name!r} is required, so it cannot be hidden: set its value")


def _wrong_values(error: ToolInputError) -> ToolDefinitionError:
    problems = str(error).partition("\n")[2].replace("\n", "; ")
    return ToolDefinitionError(f"a fixed value does not fit its argument: {problems}")
