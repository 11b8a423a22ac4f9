"""Functions for FastMCP, as functions that pegboard can compile.

The adapted function takes a `HostContext` where the original function takes the context of FastMCP. It accepts
untyped parameters, and converts its result.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import ConfigDict, PydanticSchemaGenerationError, TypeAdapter, create_model
from pydantic.errors import PydanticInvalidForJsonSchema
from typing_extensions import TypedDict

from pegboard import ToolResult as HostToolResult
from pegboard_plugins.compat.adapting import adapter, target_of
from pegboard_plugins.compat.fastmcp.dependencies import Filled
from pegboard_plugins.compat.fastmcp.media import MEDIA_TYPES
from pegboard_plugins.compat.fastmcp.resolvers import with_resolvers
from pegboard_plugins.compat.fastmcp.results import ToolResult, as_block, is_mcp_type
from pegboard_plugins.compat.typed_dicts import plain_type

if TYPE_CHECKING:
    from pegboard_plugins.compat.fastmcp.server import FastMCP

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
