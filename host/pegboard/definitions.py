"""One definition of an author, checked and compiled into what a host can serve. It decides nothing about the others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from pydantic_core import to_json

from pegboard.contracts import Prompt, PromptDefinition, Resource, ResourceDefinition, Tool, ToolDefinition
from pegboard.errors import ToolDefinitionError
from pegboard.execute import BoundPrompt, BoundResource, Function
from pegboard.names import check_wire_name
from pegboard.signature import Signature, compile_signature

MAX_SCHEMA_BYTES = 256 * 1024
"""The largest input or output schema that is served, as JSON."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
T = TypeVar("T")


def attempt(make: Callable[..., T], *arguments: Any) -> T:
    """Call into what an author wrote while the host assembles.

    Raises:
        ToolDefinitionError: it raised, whatever it was, but for the operator's Ctrl-C.
    """
    try:
        return make(*arguments)
    except ToolDefinitionError:
        raise
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        raise ToolDefinitionError(f"{type(error).__name__}: {text}".rstrip(": ")) from error


def own_name(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> str:
    """The name that the author gave, else the function's.

    Raises:
        ToolDefinitionError: there is none.
    """
    function = _innermost(definition.function)
    if not callable(function):
        raise ToolDefinitionError(f"{function!r} is not a function")
    name = definition.name or getattr(function, "__name__", type(function).__name__)
    if not isinstance(name, str):
        raise ToolDefinitionError(f"its name is {name!r}, not text")
    return name


def place(function: object) -> str:
    """Where a function stands, for messages."""
    code = getattr(inspect.unwrap(_innermost(function)), "__code__", None) if callable(function) else None
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""


def compile_tool(definition: ToolDefinition, name: str, owner: str) -> tuple[Tool, Signature, Function]:
    """A tool as clients see it, and how its function is called.

    Raises:
        ToolDefinitionError: something about it cannot be served.
    """
    if complaint := check_wire_name(name):
        raise ToolDefinitionError(f"its name on the wire, {name!r}, is no good: {complaint}")
    description = _required_description(definition)
    signature = compile_signature(definition.function)
    for schema in (signature.input_schema, signature.output_schema):
        _check_size(schema)
    hints = definition.annotations
    title = definition.title or (hints.title if hints else None)
    tool = Tool(name, description, signature.input_schema, signature.output_schema, title, hints, owner)
    return tool, signature, Function.of(definition.function, inline=definition.inline)


def compile_resource(definition: ResourceDefinition, owner: str) -> tuple[Resource, BoundResource]:
    """A resource as clients see it, and its function.

    Raises:
        ToolDefinitionError: something about it cannot be served.
    """
    if not _URI.fullmatch(str(definition.uri)):
        raise ToolDefinitionError("its URI is not absolute, such as docs://readme (RFC 3986)")
    name = own_name(definition)
    _check_fixed(definition.function)
    description = _description(definition)
    resource = Resource(definition.uri, name, definition.title, description, definition.mime_type, owner)
    return resource, BoundResource(definition.uri, Function.of(definition.function), definition.mime_type)


def compile_prompt(definition: PromptDefinition, name: str, owner: str) -> tuple[Prompt, BoundPrompt]:
    """A prompt as clients see it, and its function.

    Raises:
        ToolDefinitionError: something about it cannot be served.
    """
    if complaint := check_wire_name(name):
        raise ToolDefinitionError(complaint)
    _check_fixed(definition.function)
    description = _required_description(definition)
    return Prompt(name, definition.title, description, owner), BoundPrompt(
        description, Function.of(definition.function)
    )


def _innermost(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def _description(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> str | None:
    given = definition.description
    if given is not None and not isinstance(given, str):
        raise ToolDefinitionError(f"its description is {given!r}, not text")
    if given is not None:
        return given.strip()
    function = _innermost(definition.function)
    return inspect.getdoc(function if inspect.isroutine(function) else type(function))


def _required_description(definition: ToolDefinition | PromptDefinition) -> str:
    description = _description(definition)
    if not description:
        raise ToolDefinitionError("it has no description; write a docstring that tells a model what it does")
    return description


def _check_fixed(function: Callable[..., Any]) -> None:
    if inspect.signature(function).parameters:
        raise ToolDefinitionError("its function takes parameters; content is fixed")


def _check_size(schema: Mapping[str, Any] | None) -> None:
    if schema is not None and (size := len(to_json(schema))) > MAX_SCHEMA_BYTES:
        raise ToolDefinitionError(f"its schema has {size} bytes, the limit is {MAX_SCHEMA_BYTES}")
