"""`FastMCP`: a toolkit with the methods of FastMCP and of `MCPServer`."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

from pegboard import Annotations, Icon, ToolAnnotations, Toolkit
from pegboard.plugin import (
    Lifespan,
    PluginContext,
    PromptDefinition,
    ResourceDefinition,
    Route,
    ToolDefinition,
    hookimpl,
)
from pegboard_plugins.compat.fastmcp.completions import completions
from pegboard_plugins.compat.fastmcp.context import Context, get_context
from pegboard_plugins.compat.fastmcp.functions import adapted
from pegboard_plugins.compat.fastmcp.prompts import Prompt, prompt_result
from pegboard_plugins.compat.fastmcp.results import tool_result
from pegboard_plugins.compat.fastmcp.routes import custom_routes
from pegboard_plugins.compat.fastmcp.types import PromptReference, ResourceTemplateReference, plain

logger = logging.getLogger("pegboard.plugins.compat.fastmcp")

_TRANSPORTS = {"stdio": "stdio", "http": "http", "streamable-http": "http"}
_ELSEWHERE = {
    "auth": "configure [plugins.resource_server] in hostconfig.toml",
    "auth_server_provider": "configure [plugins.resource_server] in hostconfig.toml",
    "token_verifier": "configure [plugins.resource_server] in hostconfig.toml",
    "middleware": "write a plugin with the hook register_middleware",
    "providers": "write a plugin with the hook register_tools",
    "transforms": "write a plugin with the hook register_tools",
    "extensions": "write a plugin with the hook register_methods",
}
"""Options of FastMCP that exist elsewhere in pegboard."""
_WITHOUT_EFFECT = frozenset(
    (
        "cache_scope", "cache_ttl", "client_log_level", "debug", "dependencies", "dereference_schemas", "event_store",
        "json_response", "list_page_size", "log_level", "mask_error_details", "max_request_body_size", "max_sessions",
        "message_path", "mount_path", "on_duplicate", "on_duplicate_prompts", "on_duplicate_resources",
        "on_duplicate_tools", "request_state_security", "resource_security", "retry_interval", "session_idle_timeout",
        "session_state_store", "sse_path", "stateless_http", "strict_input_validation", "tasks", "transport_security",
        "warn_on_duplicate_prompts", "warn_on_duplicate_resources", "warn_on_duplicate_tools",
    )
)  # fmt: skip
"""Options of FastMCP that pegboard does not need, or has as settings in `hostconfig.toml`."""
_WILDCARD = re.compile(r"\{(\w+)\*\}")
_VARIABLE = re.compile(r"\{[+#./;?&]?([\w,*]+)\}")


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
        _check_options(options)
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

    def tool(self, name_or_function: Any = None, **options: Any) -> Any:
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
        **options: Any,
    ) -> None:
        """Add a tool, also while the host runs."""
        _check_item_options(options)
        is_structured = structured_output is not False and output_schema is None
        definition = ToolDefinition(
            adapted(function, self, tool_result, structured=is_structured),
            name=name or _name(function),
            title=title,
            description=description or inspect.getdoc(function) or name or _name(function),
            annotations=_annotations(annotations),
            icons=_icons(icons),
            meta=meta,
            output_schema=output_schema,
            timeout=timeout,
            version=None if version is None else str(version),
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

    def resource(self, uri: str, **options: Any) -> Callable[[Any], Any]:
        """Turn a function into a resource, or into a template if the URI has variables."""
        if callable(uri):
            raise TypeError('a resource has a URI: write @mcp.resource("docs://readme")')

        def record(function: Callable[..., Any]) -> Callable[..., Any]:
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
        **options: Any,
    ) -> ResourceDefinition:
        _check_item_options(options)
        return ResourceDefinition(
            _WILDCARD.sub(r"{+\1}", uri),
            adapted(function, self, lambda value: value),
            name=name or _name(function),
            title=title,
            description=description or inspect.getdoc(function),
            mime_type=mime_type or "text/plain",
            icons=_icons(icons),
            annotations=None if annotations is None else Annotations(**_snake(plain(annotations))),
            meta=meta,
        )

    # --- prompts ---

    def prompt(self, name_or_function: Any = None, **options: Any) -> Any:
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
        **options: Any,
    ) -> PromptDefinition:
        _check_item_options(options)
        return PromptDefinition(
            adapted(function, self, prompt_result),
            name=name or _name(function),
            title=title,
            description=description or inspect.getdoc(function) or name or _name(function),
            icons=_icons(icons),
            meta=meta,
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

    def completion(self, handler: Callable[..., Any] | None = None) -> Any:  # type: ignore[override]
        """Let one function complete the arguments of all prompts and templates."""

        def record(handler: Callable[..., Any]) -> Callable[..., Any]:
            self._complete = handler
            return handler

        return record if handler is None else record(handler)

    # --- the server ---

    def custom_route(
        self, path: str, methods: Sequence[str], name: str | None = None, include_in_schema: bool = True
    ) -> Callable[[Any], Any]:
        """Serve a handler at a path: it takes a Starlette request and returns a Starlette response."""

        def record(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
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
        return [one._replace(completions=self._completions_of(one)) for one in self._resources]

    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        """Return the prompts, with the completion of their arguments."""
        return [one._replace(completions=self._completions_of(one)) for one in self._prompts]

    def _completions_of(self, item: ResourceDefinition | PromptDefinition) -> Mapping[str, Any]:
        if self._complete is None:
            return {}
        if isinstance(item, PromptDefinition):
            hints = inspect.signature(item.function).parameters
            names = [name for name, one in hints.items() if one.annotation is str]
            return completions(self._complete, PromptReference(name=item.name or ""), names)
        names = [name for found in _VARIABLE.findall(item.uri) for name in found.split(",")]
        return completions(self._complete, ResourceTemplateReference(uri=item.uri), names)

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
        entered = nullcontext() if self._open is None else _as_manager(self._open(self))
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


def _as_manager(entered: Any) -> AbstractAsyncContextManager[Any]:
    if not inspect.isasyncgen(entered):
        return entered  # type: ignore[no-any-return]

    @asynccontextmanager
    async def manager() -> Any:
        async for value in entered:
            yield value

    return manager()


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name in _ELSEWHERE and value:
            raise TypeError(f"the option {name!r} does not exist in pegboard: {_ELSEWHERE[name]}")
        if name not in _ELSEWHERE and name not in _WITHOUT_EFFECT:
            raise TypeError(f"there is no option {name!r}")


_ITEM_OPTIONS_WITHOUT_EFFECT = frozenset(("tags", "run_in_thread", "security", "version", "enabled"))
_ITEM_OPTIONS_ELSEWHERE = {
    "task": "background tasks are not supported",
    "auth": "use the option `scopes` of pegboard's `@kit.tool`",
    "app": "use the option `ui` of pegboard's `@kit.tool`",
}


def _check_item_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name in _ITEM_OPTIONS_ELSEWHERE and value:
            raise TypeError(f"the option {name!r} does not exist in pegboard: {_ITEM_OPTIONS_ELSEWHERE[name]}")
        if name not in _ITEM_OPTIONS_ELSEWHERE and name not in _ITEM_OPTIONS_WITHOUT_EFFECT:
            raise TypeError(f"there is no option {name!r}")


def _name(function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


def _annotations(given: Any) -> ToolAnnotations | None:
    if given is None or isinstance(given, ToolAnnotations):
        return given
    return ToolAnnotations(**{name.removesuffix("_hint"): value for name, value in _snake(plain(given)).items()})


def _icons(given: Sequence[Any] | None) -> tuple[Icon, ...]:
    return tuple(one if isinstance(one, Icon) else Icon(**_snake(plain(one))) for one in given or ())


def _snake(members: Mapping[str, Any]) -> dict[str, Any]:
    from pydantic.alias_generators import to_snake

    return {to_snake(name): value for name, value in members.items()}
