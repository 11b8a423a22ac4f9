"""Definitions of other servers (`raw`): checked for clients' safety, but not compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any, TypeVar, cast

from pydantic_core import to_json

from pegboard.catalogue.shown_texts import check_schema_texts
from pegboard.catalogue.tool_compiler import listed_tool, schema_json
from pegboard.errors import ToolDefinitionError
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.schemas.functions import context_parameter, parameters_of
from pegboard.schemas.signature import Signature
from pegboard.types.authorization import ToolRequirements
from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import PromptArgument, Tool, ToolAnnotations, ToolkitInfo
from pegboard.wire.meta_keys import is_of_host

MAX_RAW_DEFINITION_BYTES = 1024 * 1024
"""The maximum size of a definition of another server, as JSON."""

Raw = TypeVar("Raw", bound=ToolDefinition | ResourceDefinition | PromptDefinition)

_TEXTS = {"name": "name", "title": "title", "description": "description", "mime_type": "mimeType"}
_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


def with_raw_texts(definition: Raw) -> Raw:
    """Return a raw definition with the texts of its MCP object in the fields that are None.

    Raises:
        ToolDefinitionError: the MCP object cannot be served.
    """
    raw = definition.raw
    check_raw(raw)
    assert raw is not None
    texts = {field: raw[name] for field, name in _TEXTS.items() if isinstance(raw.get(name), str)}
    missing = [field for field in texts if field in definition._fields and getattr(definition, field) is None]
    return cast("Raw", definition._replace(**{field: texts[field] for field in missing}))


def check_raw(raw: object) -> None:
    """Check the size and the strings of an MCP object.

    Raises:
        ToolDefinitionError: the MCP object cannot be served.
    """
    if not isinstance(raw, Mapping):
        raise ToolDefinitionError(f"its raw must be an MCP object, not {type(raw).__name__}")
    try:
        text = to_json(raw)
    except ValueError as error:
        raise ToolDefinitionError(f"its raw is not JSON: {error}") from None
    if len(text) > MAX_RAW_DEFINITION_BYTES:
        raise ToolDefinitionError(f"it has {len(text):,} bytes, the limit is {MAX_RAW_DEFINITION_BYTES:,}")
    check_schema_texts(raw, text, "the definition")


def raw_signature(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> tuple[Signature, str]:
    """Return a signature that validates nothing, and the parameter that receives all arguments or the URI.

    Raises:
        ToolDefinitionError: the function does not have exactly one parameter besides the Context.
    """
    function = definition.function
    find = _signature_of if isinstance(function, FunctionType) else _signature_of.__wrapped__
    return find(function)


@lru_cache(maxsize=8)
def _signature_of(function: Callable[..., Any]) -> tuple[Signature, str]:
    """Return `raw_signature` of a function, cached because the definitions of a server often share one function."""
    context = context_parameter(function)
    others = [parameter.name for parameter in parameters_of(function) if parameter.name != context]
    if len(others) != 1:
        raise ToolDefinitionError(
            "a function with raw needs one parameter for the arguments or the URI, and a Context; "
            f"it has {', '.join(map(repr, others)) or 'none'}"
        )
    whole = others[0]
    return Signature(EMPTY, None, context, lambda arguments: {whole: dict(arguments)}, EMPTY, None), whole


def raw_schemas(definition: ToolDefinition) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """Return the input and the output schema of a tool, unchanged.

    Raises:
        ToolDefinitionError: a schema is not an object, or clients would reject the whole list.
    """
    raw = definition.raw or EMPTY
    if definition.input_schema is not None or definition.output_schema is not None:
        raise ToolDefinitionError("a tool with raw has its schemas there: remove input_schema, output_schema")
    input_schema, output_schema = raw.get("inputSchema"), raw.get("outputSchema")
    if not isinstance(input_schema, Mapping) or input_schema.get("type") != "object":
        raise ToolDefinitionError('its inputSchema must be an object with `"type": "object"`')
    properties, required = input_schema.get("properties", EMPTY), input_schema.get("required", ())
    if not isinstance(properties, Mapping) or not all(
        isinstance(schema, Mapping | bool) for schema in properties.values()
    ):
        raise ToolDefinitionError("its inputSchema: properties must be schemas by name")
    if not isinstance(required, list | tuple) or not all(isinstance(name, str) for name in required):
        raise ToolDefinitionError("its inputSchema: required must be a list of names")
    if not isinstance(output_schema, Mapping | None):
        raise ToolDefinitionError("its outputSchema must be an object")
    return input_schema, output_schema


def raw_input(definition: ToolDefinition, schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], Signature]:
    """Return the input schema of a tool as its definition changes it, and a signature that validates only changes.

    Raises:
        ToolDefinitionError: the function is not one for `raw`, or a change is impossible.
    """
    signature, whole = raw_signature(definition)
    if not definition.arguments:
        return schema, signature
    from pegboard.schemas.changed_arguments import change_whole

    changed, validate = change_whole(schema, whole, definition.arguments)
    check_schema_texts(changed, schema_json(changed))
    return changed, signature._replace(validate=validate)


def late_tool(
    definition: ToolDefinition, name: str, toolkit: ToolkitInfo, requires: ToolRequirements | None
) -> tuple[Tool, Signature]:
    """Return a tool that is listed from a file before its toolkit is imported, like `compile_tool`.

    Only its strings are checked: clients receive them even if the file was changed.

    Args:
        definition: the definition, with `raw`.
        name: its name on the wire.
        toolkit: its toolkit.
        requires: its requirements.

    Raises:
        ToolDefinitionError: a string has invisible characters.
    """
    raw = definition.raw or EMPTY
    check_raw(raw)
    schemas = raw["inputSchema"], raw.get("outputSchema")
    shown = definition._replace(title=raw.get("title"), annotations=raw_hints(raw), meta=raw.get("_meta"))
    tool = listed_tool(shown, name, toolkit, raw.get("description", ""), schemas)
    own = definition.version or toolkit.version
    tool = tool._replace(version=own, tags=tuple(definition.tags), requires=requires, definition=definition)
    return tool, raw_signature(definition)[0]


def raw_hints(raw: Mapping[str, Any]) -> ToolAnnotations | None:
    """Return the known hints of an MCP Tool object. Members of other types are ignored."""
    raw_annotations = raw.get("annotations")
    if not isinstance(raw_annotations, Mapping):
        return None
    hints = {
        field: raw_annotations[name] for field, name in _HINTS.items() if isinstance(raw_annotations.get(name), bool)
    }
    return ToolAnnotations(title=_text(raw_annotations, "title"), **hints)


def raw_meta(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> Mapping[str, Any] | None:
    """Return the `_meta` of an MCP object, with the entries of the definition's `meta`.

    The host's own keys are removed: clients would believe that the host has written them.
    """
    meta = (definition.raw or EMPTY).get("_meta")
    own = meta if isinstance(meta, Mapping) else EMPTY
    return {**{key: own[key] for key in own if not is_of_host(key)}, **(definition.meta or EMPTY)} or None


def raw_arguments(definition: PromptDefinition) -> tuple[PromptArgument, ...]:
    """Return the arguments of an MCP Prompt object. Other members with wrong types are ignored.

    Raises:
        ToolDefinitionError: the arguments are not a list of objects with names.
    """
    arguments = (definition.raw or EMPTY).get("arguments") or ()
    if not isinstance(arguments, Sequence) or not all(
        isinstance(argument, Mapping) and isinstance(argument.get("name"), str) for argument in arguments
    ):
        raise ToolDefinitionError("its arguments must be a list of objects with a name")
    return tuple(
        PromptArgument(
            argument["name"], _text(argument, "title"), _text(argument, "description"), argument.get("required") is True
        )
        for argument in arguments
    )


def _text(raw: Mapping[str, Any], member: str) -> str | None:
    """Return a member if it is a string."""
    value = raw.get(member)
    return value if isinstance(value, str) else None
