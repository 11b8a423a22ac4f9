"""One definition of an author, checked and compiled into what a host can serve. It decides nothing about the others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from pydantic_core import to_json

from pegboard.codec import is_finite
from pegboard.contracts import (
    NOTHING,
    Mirrored,
    Prompt,
    PromptDefinition,
    Resource,
    ResourceDefinition,
    Tool,
    ToolAnnotations,
    ToolDefinition,
)
from pegboard.errors import ToolDefinitionError
from pegboard.execute import BoundPrompt, BoundResource, Function
from pegboard.meta_keys import meta_complaint
from pegboard.names import check_wire_name
from pegboard.signature import Signature, compile_signature

MAX_SCHEMA_BYTES = 256 * 1024
"""The largest input or output schema that is served, as JSON."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
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


def _check_fields(definition: ToolDefinition | ResourceDefinition | PromptDefinition) -> None:
    """Clients refuse a whole list for one member that is not what the schema says."""
    hints = getattr(definition, "annotations", None)
    texts = {
        "title": definition.title,
        "description": definition.description,
        "mime_type": getattr(definition, "mime_type", None),
        "annotations.title": getattr(hints, "title", None),
    }
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise ToolDefinitionError(f"its {name} is {value!r}, not text")
    meta = getattr(definition, "meta", None)
    if meta is not None and (complaint := meta_complaint(meta)):
        raise ToolDefinitionError(f"its meta: {complaint}")
    if not isinstance(getattr(definition, "extensions", NOTHING), Mapping):
        raise ToolDefinitionError("its extensions are no mapping from identifiers")
    for secret in getattr(definition, "requires_secrets", ()):
        if not isinstance(secret, str) or not secret.strip():
            raise ToolDefinitionError(f"it requires the secret {secret!r}, which is no name")
    if hints is not None and not isinstance(hints, ToolAnnotations):
        raise ToolDefinitionError(f"its annotations are {hints!r}, not ToolAnnotations")
    for name in ("read_only", "destructive", "idempotent", "open_world"):
        if hints is not None and not isinstance(getattr(hints, name), bool | None):
            raise ToolDefinitionError(f"its annotation {name} is {getattr(hints, name)!r}, not true or false")


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
    _check_fields(definition)
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
    signature = compile_signature(definition.function, definition.input_schema, definition.output_schema)
    text, _ = [_check_schema(schema) for schema in (signature.input_schema, signature.output_schema)]
    mirrors = _mirrored(signature.input_schema) if b'"x-mcp-header"' in text else ()
    hints = definition.annotations
    title = definition.title or (hints.title if hints else None)
    schemas = signature.input_schema, signature.output_schema
    tool = Tool(name, description, *schemas, title, hints, owner, definition.meta, mirrors)
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
    resource = Resource(
        definition.uri, name, definition.title, description, definition.mime_type, owner, definition.meta
    )
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


def _mirrored(schema: Mapping[str, Any]) -> tuple[Mirrored, ...]:
    # most hosts have no such tool, and do not pay for the import
    from pegboard.mirrored import mirrored

    return mirrored(schema)


def _check_schema(schema: Mapping[str, Any] | None) -> bytes:
    """The schema as JSON."""
    if not is_finite((schema,)):
        raise ToolDefinitionError("its schema holds NaN or an infinity, which JSON lacks; leave such a bound out")
    text = to_json(schema)
    if len(text) > MAX_SCHEMA_BYTES:
        raise ToolDefinitionError(f"its schema has {len(text)} bytes, the limit is {MAX_SCHEMA_BYTES}")
    return text
