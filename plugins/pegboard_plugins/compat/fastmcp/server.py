"""`FastMCP`: a toolkit with the methods of FastMCP and of `MCPServer`."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any, TypeVar, overload

from pegboard import Annotations, Toolkit
from pegboard.plugin import (
    Lifespan,
    PluginContext,
    PromptDefinition,
    ResourceDefinition,
    Route,
    ToolDefinition,
    hookimpl,
)
from pegboard_plugins.compat.fastmcp.completions import completions_of
from pegboard_plugins.compat.fastmcp.context import Context, get_context
from pegboard_plugins.compat.fastmcp.functions import adapted, as_manager
from pegboard_plugins.compat.fastmcp.options import (
    check_item_options,
    check_options,
    icons_of,
    name_of,
    snake_case,
    tool_annotations,
)
from pegboard_plugins.compat.fastmcp.prompts import Prompt, prompt_result
from pegboard_plugins.compat.fastmcp.results import tool_result
from pegboard_plugins.compat.fastmcp.routes import custom_routes
from pegboard_plugins.compat.fastmcp.types import plain

logger = logging.getLogger("pegboard.plugins.compat.fastmcp")

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_TRANSPORTS = {"stdio": "stdio", "http": "http", "streamable-http": "http"}
_WILDCARD = re.compile(r"\{(\w+)\*\}")


class FastMCP(Toolkit):
    """A server written for FastMCP, served by pegboard.

    Args:
        name: the name of the server.
        instructions: instructions for the model.
        title: a name for people.
        description: a sentence about the server.
        version: the version of the server.
        lifespan: a function that receives the server and returns an async context manager.
        tools: functions to add as tools.
        host: the address for HTTP, if `run` is not given one.
        port: the port for HTTP, if `run` is not given one.
        streamable_http_path: the path of the MCP endpoint.
        options: further options of FastMCP. Most have no effect here.

    Raises:
        TypeError: an option does not exist, or belongs to another place in pegboard.
    """

    _default_name = "FastMCP"
    _used_of_two = "later"

    def __init__(
        self,
        name: str | None = None,
        instructions: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        version: str | float | None = None,
        lifespan: Callable[[Any], Any] | None = None,
        tools: Sequence[Callable[..., Any]] | None = None,
        host: str | None = None,
        port: int | None = None,
        streamable_http_path: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        check_options(options)
        super().__init__(
            name or self._default_name,
            title=title,
            description=description,
            version=None if version in (None, "") else str(version),
            prefix=False,
            instructions=instructions,
        )
        self._address = {"host": host, "port": port, "path": streamable_http_path}
        self._open: Callable[[Any], Any] | None = lifespan
        self._routes: list[Route] = []
        self._complete: Callable[..., Any] | None = None
        self._running: list[PluginContext] = []
        for function in tools or ():
            self.add_tool(function)

    # --- tools ---

    @overload
    def tool(self, name_or_function: Decorated, /, **options: Any) -> Decorated: ...

    @overload
    def tool(self, name_or_function: str | None = None, /, **options: Any) -> Callable[[Decorated], Decorated]: ...

    def tool(self, name_or_function: Any = None, /, **options: Any) -> Any:
        """Turn a function into a tool: `@mcp.tool`, `@mcp.tool()`, `@mcp.tool("name", ...)`, `mcp.tool(function)`."""
        if callable(name_or_function):
            self.add_tool(name_or_function, **options)
            return name_or_function
        if name_or_function is not None:
            options["name"] = name_or_function

        def record(function: Callable[..., Any]) -> Callable[..., Any]:
            self.add_tool(function, **options)
            return function

        return record

    def add_tool(
        self,
        function: Callable[..., Any],
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
        **options: Any,
    ) -> None:
        """Add a tool, also while the host runs."""
        check_item_options(options)
        is_structured = structured_output is not False and output_schema is None
        definition = ToolDefinition(
            adapted(function, self, tool_result, structured=is_structured),
            name=name or name_of(function),
            title=title,
            description=description or inspect.getdoc(function) or name or name_of(function),
            annotations=tool_annotations(annotations),
            icons=icons_of(icons),
            meta=meta,
            output_schema=output_schema,
            timeout=timeout,
            version=None if version is None else str(version),
            tags=tuple(tags or ()),
        )
        self._put(self._tools, definition, "name")

    def remove_tool(self, name: str) -> None:
        """Remove a tool, also while the host runs.

        Raises:
            ToolDefinitionError: the host has no such tool.
        """
        self._tools[:] = [one for one in self._tools if one.name != name]
        for context in self._running:
            context.catalogue.remove("tools", name)

    # --- resources ---

    def resource(self, uri: str, **options: Any) -> Callable[[Decorated], Decorated]:
        """Turn a function into a resource, or into a template if the URI has variables."""
        if callable(uri):
            raise TypeError('a resource has a URI: write @mcp.resource("docs://readme")')

        def record(function: Decorated) -> Decorated:
            self._put(self._resources, self._resource(uri, function, **options), "uri")
            return function

        return record

    def _resource(
        self,
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
        **options: Any,
    ) -> ResourceDefinition:
        check_item_options(options)
        return ResourceDefinition(
            _WILDCARD.sub(r"{+\1}", uri),
            adapted(function, self, lambda value: value),
            name=name or name_of(function),
            title=title,
            description=description or inspect.getdoc(function),
            mime_type=mime_type or "text/plain",
            icons=icons_of(icons),
            annotations=None if annotations is None else Annotations(**snake_case(plain(annotations))),
            meta=meta,
            tags=tuple(tags or ()),
        )

    # --- prompts ---

    @overload
    def prompt(self, name_or_function: Decorated, /, **options: Any) -> Decorated: ...

    @overload
    def prompt(self, name_or_function: str | None = None, /, **options: Any) -> Callable[[Decorated], Decorated]: ...

    def prompt(self, name_or_function: Any = None, /, **options: Any) -> Any:
        """Turn a function into a prompt: `@mcp.prompt`, `@mcp.prompt()` or `@mcp.prompt("name", ...)`."""
        if callable(name_or_function):
            self._put(self._prompts, self._prompt(name_or_function, **options), "name")
            return name_or_function
        if name_or_function is not None:
            options["name"] = name_or_function

        def record(function: Callable[..., Any]) -> Callable[..., Any]:
            self._put(self._prompts, self._prompt(function, **options), "name")
            return function

        return record

    def _prompt(
        self,
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
        check_item_options(options)
        return PromptDefinition(
            adapted(function, self, prompt_result),
            name=name or name_of(function),
            title=title,
            description=description or inspect.getdoc(function) or name or name_of(function),
            icons=icons_of(icons),
            meta=meta,
            tags=tuple(tags or ()),
        )

    def add_prompt(self, prompt: Prompt | Callable[..., Any]) -> None:
        """Add a prompt, also while the host runs."""
        found = prompt if isinstance(prompt, Prompt) else Prompt.from_function(prompt)
        self._put(self._prompts, self._prompt(found.function, **found.options), "name")

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt, also while the host runs.

        Raises:
            ValueError: the server has no such prompt.
        """
        if all(one.name != name for one in self._prompts):
            raise ValueError(f"unknown prompt {name!r}")
        self._prompts[:] = [one for one in self._prompts if one.name != name]
        for context in self._running:
            context.catalogue.remove("prompts", name)

    def completion(  # type: ignore[override]
        self, handler: Any = None, /
    ) -> Callable[[Decorated], Decorated]:
        """Let one function complete the arguments of all prompts and templates."""

        def record(handler: Decorated) -> Decorated:
            self._complete = handler
            return handler

        return record if handler is None else record(handler)

    # --- the server ---

    def custom_route(
        self, path: str, methods: Sequence[str], name: str | None = None, include_in_schema: bool = True
    ) -> Callable[[Decorated], Decorated]:
        """Serve a handler at a path. The handler accepts a Starlette request and returns a Starlette response."""

        def record(handler: Decorated) -> Decorated:
            self._routes += custom_routes(path, methods, handler)
            return handler

        return record

    def mount(self, server: FastMCP, namespace: str | None = None, prefix: str | None = None, **options: Any) -> None:
        """Serve the tools, resources and prompts of another server too.

        Args:
            server: the other server. Definitions that it adds later are not served.
            namespace: the prefix of the names of its tools and prompts.
            prefix: the same, as FastMCP 2 calls it.
        """
        start = f"{name}_" if (name := namespace or prefix) else ""
        for tool in server._tools:
            self._put(self._tools, tool._replace(name=f"{start}{tool.name}"), "name")
        for prompt in server._prompts:
            self._put(self._prompts, prompt._replace(name=f"{start}{prompt.name}"), "name")
        for resource in server._resources:
            uri = resource.uri.replace("://", f"://{name}/", 1) if name else resource.uri
            self._put(self._resources, resource._replace(uri=uri), "uri")

    def get_context(self) -> Context[Any, Any, Any]:
        """Return the context of the running call.

        Raises:
            RuntimeError: no call runs in this task or thread.
        """
        return Context(get_context().pegboard, self)

    def run(self, transport: str | None = None, **settings: Any) -> None:
        """Serve until the process is asked to stop.

        Args:
            transport: "stdio", "http" or "streamable-http".
            settings: `host`, `port` and `path`. Further settings of FastMCP have no effect.

        Raises:
            ValueError: pegboard does not have the transport.
        """
        if (known := _TRANSPORTS.get(transport or "stdio")) is None:
            raise ValueError(f"there is no transport {transport!r}: use one of {', '.join(_TRANSPORTS)}")
        if known == "stdio":
            super().run()
            return
        given = {**self._address, **settings}
        path = given.get("streamable_http_path") or given["path"]
        address = {key: given[key] for key in ("host", "port") if given[key] is not None}
        super().run(known, plugins={"mcp": {"path": path}} if path else {}, **address)

    def _put(self, items: list[Any], definition: Any, key: str) -> None:
        """Add a definition. If its name or URI is in use, one of the two definitions is kept."""
        name = getattr(definition, key)
        kept = [one for one in items if getattr(one, key) != name]
        is_new = len(kept) == len(items)
        if not is_new:
            logger.warning("%r is defined twice: the %s definition is used", name, self._used_of_two)
            if self._used_of_two == "first":
                return
        items[:] = [*kept, definition]
        for context in self._running:
            (context.catalogue.add if is_new else context.catalogue.update)(definition)

    # --- hooks ---

    @hookimpl
    def register_resources(self) -> Iterable[ResourceDefinition]:
        """Return the resources, with the completion of their variables."""
        return [one._replace(completions=completions_of(one, self._complete)) for one in self._resources]

    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        """Return the prompts, with the completion of their arguments."""
        return [one._replace(completions=completions_of(one, self._complete)) for one in self._prompts]

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the custom routes."""
        return self._routes

    @hookimpl(specname="lifespan")
    def enter_lifespan(self, context: PluginContext) -> Lifespan:
        """Enter the server's own lifespan, and change the catalogue of the host until it ends."""
        return self._lifetime(context)

    @asynccontextmanager
    async def _lifetime(self, context: PluginContext) -> Any:
        entered = nullcontext() if self._open is None else as_manager(self._open(self))
        async with entered as state:
            self._running.append(context)
            try:
                yield state
            finally:
                self._running.remove(context)


class MCPServer(FastMCP):
    """A server written for version 2 of the official SDK."""

    _default_name = "mcp-server"
    _used_of_two = "first"
