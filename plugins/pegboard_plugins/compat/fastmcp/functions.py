"""Functions for FastMCP, as functions that pegboard can compile.

The adapted function takes a `pegboard.Context` where the original function takes the context of FastMCP. It accepts
untyped parameters, and converts its result.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import ConfigDict, PydanticSchemaGenerationError, TypeAdapter, create_model
from pydantic.errors import PydanticInvalidForJsonSchema

import pegboard
from pegboard_plugins.compat.fastmcp.context import Context
from pegboard_plugins.compat.fastmcp.media import Media
from pegboard_plugins.compat.fastmcp.results import is_mcp_type

if TYPE_CHECKING:
    from pegboard_plugins.compat.fastmcp.server import FastMCP

_EMPTY = inspect.Parameter.empty


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
    signature = inspect.signature(function)
    hints = _hints(function)
    contexts = [name for name in signature.parameters if _takes_context(hints.get(name))]
    parameters = [
        one.replace(annotation=pegboard.Context if name in contexts else hints.get(name, Any))
        for name, one in signature.parameters.items()
    ]
    result = _result_type(hints.get("return", _EMPTY)) if structured else _EMPTY

    def with_contexts(keywords: dict[str, Any]) -> dict[str, Any]:
        return keywords | {name: Context(keywords[name], server) for name in contexts if keywords.get(name) is not None}

    if inspect.iscoroutinefunction(_target(function)):

        async def run(**keywords: Any) -> Any:
            return convert(await function(**with_contexts(keywords)))
    else:

        def run(**keywords: Any) -> Any:  # type: ignore[misc]  # the sync form
            return convert(function(**with_contexts(keywords)))

    update_wrapper(run, function)
    del run.__wrapped__  # type: ignore[attr-defined]  # its annotations are not those of `run`
    run.__signature__ = signature.replace(parameters=parameters, return_annotation=result)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters} | (
        {} if result is _EMPTY else {"return": result}
    )
    return run


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    return typing.get_type_hints(_target(function), include_extras=True)


def _target(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a call runs: for an object, its class's `__call__`."""
    return function if inspect.isroutine(function) else type(function).__call__


def _takes_context(annotation: Any) -> bool:
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(_takes_context(part) for part in get_args(annotation))
    cls = get_origin(annotation) or annotation
    return isinstance(cls, type) and issubclass(cls, Context | pegboard.Context)


def _result_type(annotation: Any) -> Any:
    """Return the type of the structured result, or `empty` if the result is content or has no schema."""
    if get_origin(annotation) is Annotated and is_mcp_type(get_args(annotation)[0]):
        return get_args(annotation)[1]  # Annotated[CallToolResult, Model]
    if any(annotation is one for one in (_EMPTY, None, Any, list, tuple)) or _is_content_type(annotation):
        return _EMPTY
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
    return is_mcp_type(annotation) or (isinstance(annotation, type) and issubclass(annotation, Media))


def _model_of(cls: Any) -> Any:
    """Return a model of an ordinary class with annotated attributes, or `empty` for other types."""
    if not isinstance(cls, type) or not (fields := typing.get_type_hints(cls)):
        return _EMPTY
    members: dict[str, Any] = {
        name: (kind, getattr(cls, name, ...)) for name, kind in fields.items() if not name.startswith("_")
    }
    return create_model(cls.__name__, __config__=ConfigDict(from_attributes=True), **members)
