"""Tools, resources and prompts with the options of FastMCP, as definitions of pegboard."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import ConfigDict, PydanticSchemaGenerationError, TypeAdapter, create_model
from pydantic.errors import PydanticInvalidForJsonSchema
from typing_extensions import TypedDict

from pegboard import Annotations, Completion, Context
from pegboard import ToolResult as HostToolResult
from pegboard.plugin import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard_plugins.compat.adapting import adapter, called, signed, target_of
from pegboard_plugins.compat.fastmcp.apps import resource_ui, tool_ui
from pegboard_plugins.compat.fastmcp.dependencies import Filled
from pegboard_plugins.compat.fastmcp.media import MEDIA_TYPES
from pegboard_plugins.compat.fastmcp.options import (
    ITEM_OPTIONS_ELSEWHERE,
    ITEM_OPTIONS_WITHOUT_EFFECT,
    icons_of,
    name_of,
    snake_case,
    tool_annotations,
)
from pegboard_plugins.compat.fastmcp.prompts import prompt_result
from pegboard_plugins.compat.fastmcp.resolvers import with_resolvers
from pegboard_plugins.compat.fastmcp.results import ToolResult, as_block, is_mcp_type, tool_result
from pegboard_plugins.compat.fastmcp.types import (
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
    plain,
)
from pegboard_plugins.compat.missing import check_options
from pegboard_plugins.compat.typed_dicts import plain_type

if TYPE_CHECKING:
    from pegboard_plugins.compat.fastmcp.server import FastMCP

_INTERFACE = "text/html;profile=mcp-app"
_WILDCARD = re.compile(r"\{(\w+)\*\}")


def tool_of(
    server: FastMCP,
    function: Callable[..., Any],
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    annotations: Any = None,
    icons: Sequence[Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    structured_output: bool | None = None,
    output_schema: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    version: Any = None,
    tags: Collection[str] | None = None,
    app: Any = None,
    **options: Any,
) -> ToolDefinition:
    """Return a function of a server as a tool."""
    check_options(options, ITEM_OPTIONS_ELSEWHERE, ITEM_OPTIONS_WITHOUT_EFFECT)
    is_structured = structured_output is not False and output_schema is None
    text = inspect.getdoc(function)
    return ToolDefinition(
        adapted(function, server, tool_result, structured=is_structured),
        name=name or name_of(function),
        title=title,
        description=description or (text if server.is_official else before_sections(text)) or name or name_of(function),
        annotations=tool_annotations(annotations),
        icons=icons_of(icons),
        meta=meta,
        output_schema=output_schema,
        timeout=timeout,
        version=None if version is None else str(version),
        tags=tuple(tags or ()),
        extensions={"ui": tool_ui(app)} if app else {},
    )


def resource_of(
    server: FastMCP,
    uri: str,
    function: Callable[..., Any],
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    icons: Sequence[Any] | None = None,
    annotations: Any = None,
    meta: Mapping[str, Any] | None = None,
    tags: Collection[str] | None = None,
    app: Any = None,
    **options: Any,
) -> ResourceDefinition:
    """Return a function of a server as a resource, or as a template if the URI has variables."""
    check_options(options, ITEM_OPTIONS_ELSEWHERE, ITEM_OPTIONS_WITHOUT_EFFECT)
    return ResourceDefinition(
        _WILDCARD.sub(r"{+\1}", uri),
        adapted(function, server, lambda value: value),
        name=name or name_of(function),
        title=title,
        description=description or inspect.getdoc(function),
        mime_type=mime_type or (_INTERFACE if uri.startswith("ui://") else "text/plain"),
        icons=icons_of(icons),
        annotations=None if annotations is None else Annotations(**snake_case(plain(annotations))),
        meta=meta,
        tags=tuple(tags or ()),
        extensions={"ui": resource_ui(app)} if app else {},
    )


def prompt_of(
    server: FastMCP,
    function: Callable[..., Any],
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    icons: Sequence[Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    tags: Collection[str] | None = None,
    **options: Any,
) -> PromptDefinition:
    """Return a function of a server as a prompt."""
    check_options(options, ITEM_OPTIONS_ELSEWHERE, ITEM_OPTIONS_WITHOUT_EFFECT)
    return PromptDefinition(
        adapted(function, server, prompt_result),
        name=name or name_of(function),
        title=title,
        description=description or inspect.getdoc(function) or name or name_of(function),
        icons=icons_of(icons),
        meta=meta,
        tags=tuple(tags or ()),
    )


# --- The part of a docstring that is the description of an item.

_HEADING = re.compile(
    r"^(?:(\w[\w -]*)(?::[ \t]*\n(?=[ \t]+\S)|\n---+$)|:(?:param|type|raises|returns?|rtype)\b)", re.MULTILINE
)
_SECTIONS = frozenset(
    (
        "args", "arguments", "attention", "attributes", "caution", "danger", "error", "example", "examples",
        "exceptions", "hint", "important", "keyword args", "keyword arguments", "note", "notes", "other args",
        "other arguments", "other parameters", "other params", "parameters", "params", "raise", "raises", "receives",
        "references", "return", "returns", "see also", "tip", "todo", "warning", "warnings", "warns", "yield", "yields",
    )
)  # fmt: skip


def before_sections(text: str | None) -> str | None:
    """Return the text before the sections, such as `Args:`. A text with none of the usual sections stays whole."""
    headings = list(_HEADING.finditer(text or ""))
    names = {(heading[1] or "args").lower() for heading in headings}
    return text if text is None or names.isdisjoint(_SECTIONS) else text[: headings[0].start()].rstrip() or None


# --- Functions for FastMCP, as functions that pegboard can compile.
# The adapted function takes a `HostContext` where the original function takes the context of FastMCP. It accepts
# untyped parameters, and converts its result.

_EMPTY = inspect.Parameter.empty
_OPEN = (_EMPTY, None, Any, list, list[Any], tuple, tuple[Any, ...])
"""The types of results that may contain content. They have no schema."""


def adapted(
    function: Callable[..., Any],
    server: FastMCP,
    convert: Callable[[Any], Any],
    *,
    structured: bool = False,
) -> Callable[..., Any]:
    """Return a function with the same parameters that pegboard can compile.

    Args:
        function: the function for FastMCP.
        server: its server.
        convert: converts its result.
        structured: True to keep the return type, from which the output schema is compiled.
    """
    function = with_resolvers(function)
    hints = typing.get_type_hints(target_of(function), include_extras=True)
    filled = Filled(function, hints, server)
    declared = hints.get("return", _EMPTY) if structured else _EMPTY
    result = _EMPTY if declared is dict and server.is_official else _result_type(declared)
    if server.is_official and _is_wrapped(declared):
        members: dict[str, Any] = {"result": result}
        create: Any = TypedDict
        convert, result = _wrapped(convert), create("Result", members)
    elif structured and result is _EMPTY and not server.is_official:
        convert = _structured(convert)
    run = adapter(function, filled.keywords, convert, filled.signature.replace(return_annotation=result))
    if server.is_official:
        run.__doc__ = None  # its parameters get no descriptions from docstrings
    return run


def _structured(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion after which an object without a schema is structured content, as FastMCP sends it."""

    def converted(value: Any) -> Any:
        result = convert(value)
        return HostToolResult(result, structured=True) if isinstance(result, dict) else result

    return converted


def _is_wrapped(annotation: Any) -> bool:
    """Return True for a mapping that the official SDK sends as `{"result": ...}`: all but `dict[str, ...]`."""
    is_plain = isinstance(annotation, GenericAlias) and get_args(annotation)[0] is str
    return annotation is not dict and (get_origin(annotation) or annotation) is dict and not is_plain


def _wrapped(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion that wraps a result as the official SDK does."""

    def converted(value: Any) -> HostToolResult:
        return HostToolResult({"result": convert(value)}, structured=True, content=(as_block(value),))

    return converted


def _result_type(annotation: Any) -> Any:
    """Return the type of the structured result, or `empty` if the result is content or has no schema."""
    if get_origin(annotation) is Annotated and is_mcp_type(get_args(annotation)[0]):
        return get_args(annotation)[1]  # Annotated[CallToolResult, Model]
    if annotation in _OPEN or _is_content_type(annotation):
        return _EMPTY
    annotation = plain_type(annotation)
    try:
        TypeAdapter(annotation).json_schema(mode="serialization")
    except PydanticSchemaGenerationError:
        return _model_of(annotation)
    except (PydanticInvalidForJsonSchema, TypeError):
        return _EMPTY
    return annotation


def _is_content_type(annotation: Any) -> bool:
    if get_args(annotation):
        return any(_is_content_type(part) for part in get_args(annotation))
    return is_mcp_type(annotation) or (
        isinstance(annotation, type) and issubclass(annotation, (*MEDIA_TYPES, ToolResult))
    )


def _model_of(cls: Any) -> Any:
    """Return a model of an ordinary class with annotated attributes, or `empty` for other types."""
    if not isinstance(cls, type) or not (fields := typing.get_type_hints(cls)):
        return _EMPTY
    members: dict[str, Any] = {
        name: (kind, getattr(cls, name, ...)) for name, kind in fields.items() if not name.startswith("_")
    }
    return create_model(cls.__name__, __config__=ConfigDict(from_attributes=True), **members)


# --- One completion handler for all arguments, as one function for each argument.

_VARIABLE = re.compile(r"\{[+#./;?&]?([\w,*]+)\}")


def completions_of(
    item: ResourceDefinition | PromptDefinition, handler: Callable[..., Any] | None
) -> Mapping[str, Callable[..., Any]]:
    """Return a completion function for each argument of a prompt, or for each variable of a template.

    Args:
        item: the prompt or template.
        handler: `async (reference, argument, context) -> Completion | None`; None for no completion.
    """
    if handler is None:
        return {}
    if isinstance(item, PromptDefinition):
        parameters = inspect.signature(item.function).parameters
        names = [name for name, parameter in parameters.items() if parameter.annotation is not Context]
        reference: object = PromptReference(name=item.name or "")
    else:
        names = [name for group in _VARIABLE.findall(item.uri) for name in group.split(",")]
        reference = ResourceTemplateReference(uri=item.uri)
    return {name: _function(handler, reference, name, [other for other in names if other != name]) for name in names}


def _function(handler: Callable[..., Any], reference: object, name: str, others: list[str]) -> Callable[..., Any]:
    async def complete(_typed: str, **chosen: str | None) -> Completion:
        arguments = {other: value for other, value in chosen.items() if value is not None}
        context = CompletionContext(arguments=arguments) if arguments else None
        result = await called(handler, reference, CompletionArgument(name=name, value=_typed), context)
        if result is None:
            return Completion(())
        values = getattr(result, "values", result)
        return Completion(values, getattr(result, "total", None), bool(getattr(result, "has_more", False)))

    text = str | None
    first = inspect.Parameter("_typed", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
    rest = [inspect.Parameter(other, inspect.Parameter.KEYWORD_ONLY, annotation=text, default=None) for other in others]
    return signed(complete, inspect.Signature([first, *rest]))
