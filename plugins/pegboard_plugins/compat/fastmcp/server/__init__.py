"""`FastMCP`: a toolkit with the methods of FastMCP and of `MCPServer`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from inspect import isasyncgen
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakValueDictionary

from pegboard.plugin import Middleware as HostMiddleware
from pegboard.plugin import PromptDefinition, ResourceDefinition, Route, ToolDefinition, hookimpl
from pegboard.types import ItemKind
from pegboard_plugins.compat.adapting import Decorated
from pegboard_plugins.compat.changing_toolkit import ChangingToolkit, ItemDefinition
from pegboard_plugins.compat.fastmcp.context import Context, get_context
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.exceptions import ToolError
from pegboard_plugins.compat.fastmcp.item_definitions import completions_of, prompt_of, resource_of, tool_of
from pegboard_plugins.compat.fastmcp.options import ELSEWHERE, VISIBILITY_ELSEWHERE, WITHOUT_EFFECT
from pegboard_plugins.compat.fastmcp.prompts import Prompt
from pegboard_plugins.compat.fastmcp.routes import custom_routes
from pegboard_plugins.compat.fastmcp.server.middleware import AdaptedMiddleware
from pegboard_plugins.compat.fastmcp.tools import Tool
from pegboard_plugins.compat.missing import Elsewhere, check_options

if TYPE_CHECKING:
    from pegboard_plugins.compat.fastmcp.http_application import HttpApplication

logger = logging.getLogger("pegboard.plugins.compat.fastmcp")

__getattr__ = missing_names(__name__)

_IN_TESTS = "in tests, use pegboard_testing.connect(server)"
_MOUNT = "mount the unchanged server with [plugins.upstreams.servers.NAME] in hostconfig.toml"
_TRANSPORTS = {"stdio": "stdio", "http": "http", "streamable-http": "http"}


class FastMCP(ChangingToolkit):
    """A server written for FastMCP, served by pegboard.

    Args:
        name: the name of the server.
        instructions: instructions for the model.
        title: a name for people.
        description: a sentence about the server.
        version: the version of the server.
        lifespan: a function that receives the server and returns an async context manager.
        tools: functions to add as tools.
        middleware: middleware around each message that concerns the server, outermost first.
        host: the address for HTTP, if `run` is not given one.
        port: the port for HTTP, if `run` is not given one.
        streamable_http_path: the path of the MCP endpoint.
        options: further options of FastMCP. Most have no effect here.

    Raises:
        TypeError: an option does not exist, or belongs to another place in pegboard.

    Attributes:
        dependencies: the functions of `Depends` that its items use, as functions of pegboard.
        middleware: its middleware, outermost first. It may be changed before the host starts.
        is_official: True for a server of the official SDK.
    """

    _default_name = "FastMCP"
    _used_of_two = "later"
    is_official = False

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
        middleware: Sequence[Callable[..., Any]] | None = None,
        **options: Any,
    ) -> None:
        check_options(options, ELSEWHERE, WITHOUT_EFFECT)
        super().__init__(
            name or self._default_name,
            title=title,
            description=description,
            version=None if version in (None, "") else str(version),
            prefix=False,
            instructions=instructions,
        )
        self._address: dict[str, Any] = {"host": host, "port": port, "path": streamable_http_path}
        self._application: HttpApplication | None = None
        self.dependencies: WeakValueDictionary[Callable[..., Any], Callable[..., Any]] = WeakValueDictionary()
        self._routes: list[Route] = []
        self._disabled: dict[str, ToolDefinition] = {}
        self.middleware: list[Callable[..., Any]] = list(middleware or ())
        self._complete: Callable[..., Any] | None = None
        if lifespan is not None:
            self.lifespan(lambda config: _manager(lifespan(self)))
        for function in tools or ():
            self.add_tool(function)

    # --- tools ---

    @overload
    def tool(self, name_or_function: Decorated, /, **options: Any) -> Decorated: ...

    @overload
    def tool(self, name_or_function: str | None = None, /, **options: Any) -> Callable[[Decorated], Decorated]: ...

    def tool(self, name_or_function: Any = None, /, **options: Any) -> Any:
        """Turn a function into a tool: `@mcp.tool`, `@mcp.tool()`, `@mcp.tool("name", ...)`, `mcp.tool(function)`."""
        return _decorator(self.add_tool, name_or_function, options)

    def add_tool(
        self,
        function: Callable[..., Any] | Tool,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        **options: Any,
    ) -> None:
        """Add a tool, also while the host runs."""
        if isinstance(function, Tool):
            self.add_tool(function.fn, **function.options)
            return
        self.put("tools", tool_of(self, function, name=name, title=title, description=description, **options))

    def remove_tool(self, name: str) -> None:
        """Remove a tool, also while the host runs.

        Raises:
            ToolError: the server has no such tool.
        """
        if not self.has("tools", name):
            raise ToolError(f"unknown tool {name!r}")
        self.take("tools", name)

    def disable(self, *, names: Collection[str] = (), tags: Collection[str] = (), **options: Any) -> None:
        """Hide the tools with one of the names or tags, also while the host runs."""
        check_options(options, VISIBILITY_ELSEWHERE, ())
        for tool in [tool for tool in self._tools if tool.name in names or not {*tags}.isdisjoint(tool.tags)]:
            self._disabled[str(tool.name)] = tool
            self.take("tools", str(tool.name))

    def enable(self, *, names: Collection[str] = (), tags: Collection[str] = (), **options: Any) -> None:
        """Show hidden tools with one of the names or tags, also while the host runs."""
        check_options(options, VISIBILITY_ELSEWHERE, ())
        for name, tool in list(self._disabled.items()):
            if name in names or not {*tags}.isdisjoint(tool.tags):
                self.put("tools", self._disabled.pop(name))

    # --- resources ---

    def resource(self, uri: str, **options: Any) -> Callable[[Decorated], Decorated]:
        """Turn a function into a resource, or into a template if the URI has variables."""
        if callable(uri):
            raise TypeError('a resource has a URI: write @mcp.resource("docs://readme")')

        def record(function: Decorated) -> Decorated:
            self.put("resources", resource_of(self, uri, function, **options))
            return function

        return record

    # --- prompts ---

    @overload
    def prompt(self, name_or_function: Decorated, /, **options: Any) -> Decorated: ...

    @overload
    def prompt(self, name_or_function: str | None = None, /, **options: Any) -> Callable[[Decorated], Decorated]: ...

    def prompt(self, name_or_function: Any = None, /, **options: Any) -> Any:
        """Turn a function into a prompt: `@mcp.prompt`, `@mcp.prompt()` or `@mcp.prompt("name", ...)`."""
        return _decorator(self._add_prompt, name_or_function, options)

    def _add_prompt(self, function: Callable[..., Any], **options: Any) -> None:
        self.put("prompts", prompt_of(self, function, **options))

    def add_prompt(self, prompt: Prompt | Callable[..., Any]) -> None:
        """Add a prompt, also while the host runs."""
        wrapped = prompt if isinstance(prompt, Prompt) else Prompt.from_function(prompt)
        self._add_prompt(wrapped.fn, **wrapped.options)

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt, also while the host runs.

        Raises:
            ValueError: the server has no such prompt.
        """
        if not self.has("prompts", name):
            raise ValueError(f"unknown prompt {name!r}")
        self.take("prompts", name)

    def completion(  # type: ignore[override]
        self, handler: Any = None, /
    ) -> Callable[[Decorated], Decorated]:
        """Let one function complete the arguments of all prompts and templates."""

        def record(handler: Decorated) -> Decorated:
            self._complete = handler
            return handler

        return record if handler is None else record(handler)

    # --- the server ---

    def add_middleware(self, middleware: Callable[..., Any]) -> None:
        """Add middleware inside of the others, before the host starts."""
        self.middleware.append(middleware)

    def custom_route(
        self, path: str, methods: Sequence[str], name: str | None = None, include_in_schema: bool = True
    ) -> Callable[[Decorated], Decorated]:
        """Serve a handler at a path. The handler accepts a Starlette request and returns a Starlette response."""

        def record(handler: Decorated) -> Decorated:
            self._routes += custom_routes(path, methods, handler)
            return handler

        return record

    def mount(
        self,
        server: FastMCP,
        namespace: str | None = None,
        prefix: str | None = None,
        *,
        tool_names: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """Serve the tools, resources and prompts of another server too.

        Args:
            server: the other server. Definitions that it adds later are not served.
            namespace: the prefix of the names of its tools and prompts.
            prefix: the same, as FastMCP 2 calls it.
            tool_names: names of tools, by the names that they have in the other server, in the place of the prefix.
        """
        server.is_mounted = True
        names = tool_names or {}
        start = f"{name}_" if (name := namespace or prefix) else ""
        for tool in server._tools:
            self.put("tools", tool._replace(name=names.get(str(tool.name), f"{start}{tool.name}")))
        for prompt in server._prompts:
            self.put("prompts", prompt._replace(name=f"{start}{prompt.name}"))
        for resource in server._resources:
            uri = resource.uri.replace("://", f"://{name}/", 1) if name else resource.uri
            self.put("resources", resource._replace(uri=uri))

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
        name, plugins = self._served(transport, settings)
        super().run(name, plugins=plugins, **plugins[name])

    async def run_async(self, transport: str | None = None, **settings: Any) -> None:
        """Serve in the running event loop, until the task is cancelled. Variables and files do not change settings.

        Args:
            transport: "stdio", "http" or "streamable-http".
            settings: `host`, `port` and `path`.

        Raises:
            ValueError: pegboard does not have the transport.
        """
        from pegboard_plugins.compat.fastmcp.http_application import host_of

        name, plugins = self._served(transport, settings)
        async with host_of(self, plugins, name) as host:
            await host.run()

    def _served(self, transport: str | None, settings: Mapping[str, Any]) -> tuple[str, dict[str, dict[str, Any]]]:
        """Return the transport of the host, and the settings of plugins."""
        options = {**self._address, **settings}
        path = options.get("streamable_http_path") or options["path"]
        name = _transport(transport)
        address = {key: options[key] for key in ("host", "port") if name == "http" and options[key] is not None}
        return name, {"mcp": {"path": path} if path else {}, name: address}

    async def run_stdio_async(self, **_: Any) -> None:
        """Serve over stdio in the running event loop."""
        await self.run_async("stdio")

    async def run_http_async(self, transport: str = "http", **settings: Any) -> None:
        """Serve over HTTP in the running event loop."""
        await self.run_async(transport, **settings)

    run_streamable_http_async = run_http_async

    def streamable_http_app(
        self,
        path: str | None = None,
        *,
        streamable_http_path: str | None = None,
        transport: str = "http",
        **options: Any,
    ) -> HttpApplication:
        """Return the server as an ASGI application, for clients on this machine. FastMCP calls it `http_app`.

        Args:
            path: the path of the MCP endpoint, as FastMCP calls it.
            streamable_http_path: the same, as the official SDK calls it.
            transport: "http" or "streamable-http".
            options: further options of FastMCP. Most have no effect here.

        Raises:
            TypeError: an option does not exist, or belongs to another place in pegboard.
            ValueError: pegboard does not have the transport.
        """
        from pegboard_plugins.compat.fastmcp.http_application import HttpApplication

        check_options(options, ELSEWHERE, WITHOUT_EFFECT)
        if _TRANSPORTS.get(transport) != "http":
            raise ValueError(f'an ASGI application has no transport {transport!r}: use "http"')
        path = path or streamable_http_path or self._address["path"] or "/mcp"
        self._application = HttpApplication(self, {"mcp": {"path": path}})
        return self._application

    http_app = streamable_http_app
    sse_app = Elsewhere("use streamable_http_app()")
    add_resource = Elsewhere("decorate a function with resource(uri)")
    add_template = Elsewhere("decorate a function with resource(uri)")
    import_server = Elsewhere("use mount(server)")
    call_tool = Elsewhere(_IN_TESTS)
    get_prompt = Elsewhere(_IN_TESTS)
    get_tool = Elsewhere(_IN_TESTS)
    get_tools = Elsewhere(_IN_TESTS)
    list_prompts = Elsewhere(_IN_TESTS)
    list_resources = Elsewhere(_IN_TESTS)
    list_tools = Elsewhere(_IN_TESTS)
    read_resource = Elsewhere(_IN_TESTS)
    add_extension = Elsewhere("write a plugin with the hook register_methods")
    local_provider = Elsewhere("use the methods of the server")
    add_provider = Elsewhere("write a plugin with the hook register_tools")
    add_transform = Elsewhere("write a plugin with the hook register_tools")
    as_proxy = Elsewhere("mount the server with [plugins.upstreams.servers.NAME] in hostconfig.toml")
    from_fastapi = Elsewhere("write tools that call the API")
    from_openapi = Elsewhere("write tools that call the API")
    _tool_manager = Elsewhere(_MOUNT)
    _resource_manager = Elsewhere(_MOUNT)
    _prompt_manager = Elsewhere(_MOUNT)
    _mcp_server = Elsewhere(_MOUNT)

    @property
    def session_manager(self) -> HttpApplication:
        """The ASGI application. Its `run()` starts and stops the server.

        Raises:
            RuntimeError: there is no application.
        """
        if self._application is None:
            raise RuntimeError("there is no ASGI application: call streamable_http_app() first")
        return self._application

    def put(self, kind: ItemKind, definition: ItemDefinition) -> None:
        """Add a definition. If its name or URI is in use, one of the two definitions is kept."""
        name: str = getattr(definition, "uri" if kind == "resources" else "name")
        if self.has(kind, name):
            logger.warning("%r is defined twice: the %s definition is used", name, self._used_of_two)
            if self._used_of_two == "first":
                return
        super().put(kind, definition)

    def completed(self, definition: ItemDefinition) -> ItemDefinition:
        """Return a definition with the completion of its arguments or variables."""
        if isinstance(definition, ToolDefinition):
            return definition
        return definition._replace(completions=completions_of(definition, self._complete))

    # --- hooks ---

    @hookimpl
    def register_resources(self) -> Iterable[ResourceDefinition]:
        """Return the resources, with the completion of their variables."""
        return map(self.completed, self._resources)

    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        """Return the prompts, with the completion of their arguments."""
        return map(self.completed, self._prompts)

    @hookimpl
    def register_middleware(self) -> Iterable[HostMiddleware]:
        """Return the middleware, outermost first."""
        return [AdaptedMiddleware(middleware) for middleware in self.middleware]

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        return self._routes


class MCPServer(FastMCP):
    """A server written for version 2 of the official SDK."""

    _default_name = "mcp-server"
    _used_of_two = "first"
    is_official = True


def _transport(name: str | None) -> str:
    """Return the transport of the host.

    Raises:
        ValueError: pegboard does not have the transport.
    """
    if (transport := _TRANSPORTS.get(name or "stdio")) is None:
        raise ValueError(f"there is no transport {name!r}: use one of {', '.join(_TRANSPORTS)}")
    return transport


def _decorator(add: Callable[..., None], name_or_function: Any, options: dict[str, Any]) -> Any:
    """Return the value of `mcp.tool`, `mcp.tool()` or `mcp.tool("name")` as a decorator."""

    def record(function: Decorated) -> Decorated:
        add(function, **options)
        return function

    if callable(name_or_function):
        return record(name_or_function)
    if name_or_function is not None:
        options["name"] = name_or_function
    return record


def _manager(entered: Any) -> AbstractAsyncContextManager[Any]:
    """Return the context manager of a lifespan, which may be an async generator."""
    if not isasyncgen(entered):
        manager: AbstractAsyncContextManager[Any] = entered
        return manager
    return asynccontextmanager(lambda: entered)()
