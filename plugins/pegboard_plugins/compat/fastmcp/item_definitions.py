"""Tools, resources and prompts with the options of FastMCP, as definitions of pegboard."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pegboard import Annotations
from pegboard.plugin import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard_plugins.compat.fastmcp.apps import resource_ui, tool_ui
from pegboard_plugins.compat.fastmcp.docstrings import before_sections
from pegboard_plugins.compat.fastmcp.functions import adapted
from pegboard_plugins.compat.fastmcp.options import (
    check_item_options,
    icons_of,
    name_of,
    snake_case,
    tool_annotations,
)
from pegboard_plugins.compat.fastmcp.prompts import prompt_result
from pegboard_plugins.compat.fastmcp.results import tool_result
from pegboard_plugins.compat.fastmcp.types import plain

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
    check_item_options(options)
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
    check_item_options(options)
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
    check_item_options(options)
    return PromptDefinition(
        adapted(function, server, prompt_result),
        name=name or name_of(function),
        title=title,
        description=description or inspect.getdoc(function) or name or name_of(function),
        icons=icons_of(icons),
        meta=meta,
        tags=tuple(tags or ()),
    )
