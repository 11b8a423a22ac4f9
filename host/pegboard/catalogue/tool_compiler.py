"""The compiler of tools, and functions that all compilers share."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic_core import to_json

from pegboard.calls.served_item import CallWarning, Function
from pegboard.catalogue.option_checks import MAX_DESCRIPTION_CHARACTERS, MAX_TITLE_CHARACTERS, check_options
from pegboard.catalogue.shown_texts import check_schema_texts, check_shown_text
from pegboard.errors import ToolDefinitionError
from pegboard.names import check_wire_name, normal_version
from pegboard.plugin.definitions import KINDS, PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.schemas.functions import innermost, parameters_of
from pegboard.schemas.signature import Signature, compile_signature
from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import Prompt, Resource, ResourceTemplate, Tool, ToolkitInfo
from pegboard.wire.codec import is_finite

MAX_SCHEMA_BYTES = 256 * 1024
"""The maximum size of an input or output schema, as JSON."""

VERSION_KEY = "pegboard/version"
"""The `_meta` key for a tool's own version."""

TAGS_KEY = "pegboard/tags"
"""The `_meta` key for tags."""

_SECTION_MARKS = (":\n", "\n---", "\n:")
"""One of these strings is in every docstring with sections."""

SchemaReferences: TypeAlias = Literal["inline", "keep"]
"""Definitions in place of references, or references to `$defs`."""

Schemas: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""The schema of the arguments, and that of the result."""

_SHOWN_OPTIONS = frozenset(Tool._fields) & frozenset(ToolDefinition._fields) - {
    *("name", "description", "input_schema", "output_schema"),  # computed
    *("version", "tags"),  # repeated in `_meta`
}
"""The options that clients see as the author wrote them."""

Tagged = TypeVar("Tagged", Tool, Resource, ResourceTemplate, Prompt)


def own_name(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> str:
    """Return the author's name for a definition, or else the function's name.

    Raises:
        ToolDefinitionError: the name or an option is invalid.
    """
    function = _innermost(definition.function)
    if isinstance(function, classmethod):
        raise ToolDefinitionError("it is a class method without its class: use `Class.method`")
    if not callable(function):
        raise ToolDefinitionError(f"{function!r} is not a function")
    name = definition.name or getattr(function, "__name__", type(function).__name__)
    if not isinstance(name, str):
        raise ToolDefinitionError(f"its name must be a string, not {name!r}")
    check_options(definition)
    return name


def definition_label(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> str:
    """Return the kind and name of a definition for messages."""
    if isinstance(definition, ResourceDefinition):
        return f"resource {definition.uri!r}"
    name = definition.name if isinstance(definition.name, str) else None
    kind = KINDS[type(definition)].removesuffix("s")
    return f"{kind} {name or getattr(definition.function, '__name__', definition.function)!r}"


def location_of(function: object) -> str:
    """Return the file and line of a function for messages, or "" if they are unknown."""
    if isinstance(function, type):
        return _place_of_class(function)
    function = getattr(function, "__func__", function)
    try:
        code = getattr(innermost(inspect.unwrap(function)), "__code__", None) if callable(function) else None
    except ValueError:  # it wraps itself
        return ""
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""


def _place_of_class(cls: type) -> str:
    try:
        return f" ({inspect.getfile(cls)}:{inspect.getsourcelines(cls)[1]})"
    except (OSError, TypeError):
        return ""


def runnable(function: Any, signature: Signature, *, inline: bool = False) -> Function:
    """Return a function with the way to run it. Its dependencies are created before it runs."""
    compiled = Function.of(function, inline=inline)
    if not signature.dependencies:
        return compiled
    from pegboard.calls.dependencies import with_dependencies

    return with_dependencies(compiled, signature.dependencies)


def compile_tool(
    definition: ToolDefinition, name: str, toolkit: ToolkitInfo, references: SchemaReferences
) -> tuple[Tool, Signature, Function]:
    """Compile a tool. Return the definition for clients, the signature, and the function.

    Args:
        definition: the definition.
        name: its name on the wire.
        toolkit: its toolkit. The version of the toolkit is used if the tool has no version.
        references: the form of references in schemas of types.

    Raises:
        ToolDefinitionError: the definition cannot be served.
    """
    if complaint := check_wire_name(name):
        raise ToolDefinitionError(f"its name on the wire, {name!r}, is invalid: {complaint}")
    if definition.raw is not None:
        from pegboard.catalogue.raw_definitions import raw_hints, raw_input, raw_meta, raw_schemas

        input_schema, output_schema = raw_schemas(definition)
        input_schema, signature = raw_input(definition, input_schema)
        schemas = input_schema, output_schema
        description = definition.description or ""
        hints = definition.annotations or raw_hints(definition.raw)
        shown = definition._replace(annotations=hints, meta=raw_meta(definition))
    else:
        description, documented = described(definition)
        if not description:
            raise ToolDefinitionError("it has no description; write a docstring for the model")
        signature = _signature(definition, references, documented)
        schemas = signature.input_schema, signature.output_schema
        check_schema_texts(schemas[0], schema_json(schemas[0]))
        if schemas[1] is not None:
            check_schema_texts(schemas[1], schema_json(schemas[1]), "the result")
        hints = definition.annotations
        shown = definition._replace(title=definition.title or (hints.title if hints else None))
    tool = listed_tool(shown, name, toolkit, description, schemas)._replace(definition=definition)
    tool = with_tags(_with_version(_with_kind(tool, definition), definition.version), definition.tags)
    return tool, signature, runnable(definition.function, signature, inline=definition.inline)


def listed_tool(
    definition: ToolDefinition, name: str, toolkit: ToolkitInfo, description: str, schemas: Schemas
) -> Tool:
    """Return a tool as clients see it, with the options of its definition that are fields of `Tool`."""
    shown = Tool(name, description, *schemas, owner=toolkit.name, owner_description=toolkit.description)
    options = {option: getattr(definition, option) for option in _SHOWN_OPTIONS}
    options["icons"] = tuple(definition.icons)
    options["deprecated"] = _deprecation(definition)
    return shown._replace(**options, version=toolkit.version, definition=definition)


def _signature(definition: ToolDefinition, references: SchemaReferences, documented: Mapping[str, str]) -> Signature:
    """Return the signature of a tool. Its schemas have no references, or none at their root, as `references` says."""
    input_schema, output_schema, changes = definition.input_schema, definition.output_schema, definition.arguments
    signature = compile_signature(
        definition.function,
        input_schema,
        output_schema,
        strict=definition.strict,
        changes=changes,
        documented=documented,
    )
    if input_schema is None and "$defs" in signature.input_schema:
        signature = signature._replace(input_schema=_readable(signature.input_schema, references))
    if output_schema is None and "$defs" in (signature.output_schema or ()):
        signature = signature._replace(output_schema=_readable(signature.output_schema, references))
    return signature


def _readable(schema: Any, references: SchemaReferences) -> dict[str, Any]:
    from pegboard.schemas.inlining import inlined, with_plain_root  # few schemas have references

    return inlined(schema) if references == "inline" else with_plain_root(schema)


def _with_kind(tool: Tool, definition: ToolDefinition) -> Tool:
    if definition.metadata is None and not (tool.annotations and tool.annotations.extra):
        return tool
    from pegboard.catalogue.tool_metadata import with_kind

    return with_kind(tool, definition.metadata)


def _with_version(tool: Tool, version: object) -> Tool:
    if version is None:
        return tool
    try:
        own = normal_version(version)
    except ValueError as error:
        raise ToolDefinitionError(f"its version: {error}") from None
    return tool._replace(version=own, meta={**(tool.meta or {}), VERSION_KEY: own})


def with_tags(item: Tagged, tags: Collection[str]) -> Tagged:
    """Return a copy of an item with its tags, sorted, which `_meta` repeats."""
    if not tags:
        return item
    own = tuple(sorted(set(tags)))
    return item._replace(tags=own, meta={**(item.meta or {}), TAGS_KEY: list(own)})


def _deprecation(definition: ToolDefinition) -> str | None:
    """Return the deprecation message from the option, or else from a decorator (PEP 702), or None."""
    message: object = definition.deprecated
    if message is None:
        message = getattr(_innermost(definition.function), "__deprecated__", None)
    if message is None:
        return None
    if not isinstance(message, str) or not message.strip():
        raise ToolDefinitionError(f'its deprecated must be a message such as "use add instead", not {message!r}')
    message = " ".join(message.split())
    check_shown_text("deprecated", message, MAX_TITLE_CHARACTERS)
    return message


def warning_about(tool: Tool) -> CallWarning | None:
    """Return the warning for callers of a deprecated tool, or None."""
    return CallWarning(tool.name, f"{tool.name} is deprecated: {tool.deprecated}") if tool.deprecated else None


def _innermost(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def description_of(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> str | None:
    """Return the author's description, else the docstring. Return None if both are missing."""
    description = definition.description
    return _shown(_docstring(definition)) if description is None else description.strip()


def described(definition: ToolDefinition | PromptDefinition) -> tuple[str, Mapping[str, str]]:
    """Return the description of an item, "" for none, and the descriptions of parameters in the docstring."""
    description, text = definition.description, _docstring(definition)
    parameters: Mapping[str, str] = EMPTY
    if text and getattr(definition, "input_schema", None) is None and any(mark in text for mark in _SECTION_MARKS):
        from pegboard.schemas.docstrings import split_docstring

        text, parameters = split_docstring(text, [parameter.name for parameter in parameters_of(definition.function)])
    return (_shown(text) or "") if description is None else description.strip(), parameters


def unknown_parameters(definition: ToolDefinition | PromptDefinition) -> list[str]:
    """Return the names that a docstring describes as parameters and that are no parameters of the function."""
    text = _docstring(definition) if definition.raw is None else None
    if not text or not any(mark in text for mark in _SECTION_MARKS):
        return []
    from pegboard.schemas.docstrings import documented_names

    parameters = parameters_of(definition.function)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return []
    names = {parameter.name for parameter in parameters} | compile_signature(definition.function).renamed.keys()
    return [name for name in documented_names(text) if name not in names]


def _docstring(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> str | None:
    function = _innermost(definition.function)
    if inspect.isroutine(function):
        return inspect.getdoc(function)
    return inspect.getdoc(type(function)) or inspect.getdoc(type(function).__call__)


def _shown(text: str | None) -> str | None:
    if text:
        check_shown_text("description", text, MAX_DESCRIPTION_CHARACTERS)
    return text


def schema_json(schema: Mapping[str, Any]) -> bytes:
    """Return a schema as JSON.

    Raises:
        ToolDefinitionError: the schema is too large, or has values that JSON does not support.
    """
    if not is_finite(schema):
        named = [name for name, about in schema.get("properties", {}).items() if not is_finite(about)]
        what = f"parameter {named[0]!r}: its" if named else "its"
        raise ToolDefinitionError(
            f"{what} schema contains NaN or infinity, which JSON does not support; remove that bound"
        )
    text = to_json(schema)
    if len(text) > MAX_SCHEMA_BYTES:
        raise ToolDefinitionError(f"its schema has {len(text)} bytes, the limit is {MAX_SCHEMA_BYTES}")
    return text
