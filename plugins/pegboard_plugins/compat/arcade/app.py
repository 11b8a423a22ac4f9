"""`MCPApp`: a toolkit with the methods of Arcade's `MCPApp`."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Unpack, overload

from pegboard import Context as HostContext
from pegboard.plugin import (
    Authenticator,
    PluginContext,
    PromptDefinition,
    Route,
    ToolDefinition,
    ToolFunction,
    hookimpl,
)
from pegboard_plugins.compat.adapting import Decorated, called, signed
from pegboard_plugins.compat.arcade.context import Context
from pegboard_plugins.compat.arcade.decorators import POSITIONAL, ArcadeToolOptions, P, R, tool_definition
from pegboard_plugins.compat.arcade.modules import defined_in
from pegboard_plugins.compat.arcade.names import checked_name, full_version, pascal_case
from pegboard_plugins.compat.arcade.resource_server import ResourceServerAuth
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration, file_handler, resource_definition
from pegboard_plugins.compat.arcade.types import MCPTool, Prompt, PromptArgument, Resource
from pegboard_plugins.compat.changing_toolkit import ChangingToolkit
from pegboard_plugins.compat.fastmcp.prompts import prompt_result
from pegboard_plugins.compat.missing import check_options

logger = logging.getLogger("pegboard.plugins.compat.arcade")

_TRANSPORTS = {"stdio": "stdio", "http": "http", "streamable-http": "http", "streamable": "http"}
_ELSEWHERE = {
    "arcade_api_key": "set ARCADE_API_KEY, and [plugins.arcade_cloud] in hostconfig.toml",
    "arcade_api_url": "set ARCADE_API_URL, and [plugins.arcade_cloud] in hostconfig.toml",
    "auth_disabled": "see docs/http-authentication.md for callers without a token",
    "initial_resources": "call add_resource",
    "lifespan": "write @app.lifespan above a function",
    "middleware": "write a plugin with the hook register_middleware",
    "otel_enable": "set [plugins.opentelemetry] in hostconfig.toml, or of a Host",
    "tool_meta_extensions": "write meta= at the tools",
}
"""Options of Arcade that exist elsewhere in pegboard."""
_WITHOUT_EFFECT = frozenset(("debug", "log_level", "transport", "host", "port", "reload", "icons", "website_url"))
"""Options of Arcade that `run` or settings in `hostconfig.toml` replace."""


class MCPApp(ChangingToolkit):
    """A server written for Arcade's `MCPApp`, served by pegboard.

    Args:
        name: the name of the server, of letters, digits and single underscores. Tools are named `<Name>_<Tool>`.
        version: the version of the server.
        title: a name for people.
        instructions: instructions for the model.
        description: a sentence about the server.
        allowed_origins: web origins whose pages may use the server.
        auth: the authorization servers whose tokens callers over HTTP need. Without it, `hostconfig.toml` decides.
        options: further options of Arcade. Most have no effect here.

    Raises:
        ValueError: the name or the version is invalid.
        TypeError: an option does not exist, or belongs to another place in pegboard.

    Attributes:
        known_prompts: the prompts by name.
        tools: the tools, for changes while the server runs.
        prompts: the prompts, for changes while the server runs.
        resources: the resources, for changes while the server runs.
    """

    def __init__(
        self,
        name: str = "ArcadeMCP",
        version: str = "0.1.0",
        title: str | None = None,
        instructions: str | None = None,
        *,
        description: str | None = None,
        allowed_origins: Sequence[str] | None = None,
        auth: ResourceServerAuth | None = None,
        **options: Any,
    ) -> None:
        check_options(options, _ELSEWHERE, _WITHOUT_EFFECT)
        if not isinstance(auth, ResourceServerAuth | None):
            raise TypeError(f"auth={auth!r} is not a ResourceServerAuth: configure others in hostconfig.toml")
        super().__init__(
            checked_name(name),
            title=title or name,
            description=description or instructions,
            version=full_version(version),
            prefix=False,
            instructions=instructions,
        )
        self.server: Any = None
        self.allowed_origins = allowed_origins
        self._kit = pascal_case(name)
        self._auth = auth
        self.known_prompts: dict[str, Prompt] = {}
        self.tools = ToolsAPI(self)
        self.prompts = PromptsAPI(self)
        self.resources = ResourcesAPI(self)

    # --- tools ---

    @overload  # type: ignore[override]
    def tool(self, func: Callable[P, R], /) -> Callable[P, R]: ...

    @overload
    def tool(
        self, func: None = None, desc: str | None = None, **options: Unpack[ArcadeToolOptions]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def tool(
        self, func: Callable[..., Any] | None = None, desc: str | None = None, **options: Unpack[ArcadeToolOptions]
    ) -> Any:
        """Turn a function into a tool: `@app.tool` or `@app.tool(desc=..., ...)`."""

        def record(function: Callable[..., Any]) -> Callable[..., Any]:
            return self.add_tool(function, desc, **options)

        return record if func is None else record(func)

    def add_tool(
        self, func: Callable[P, R], desc: str | None = None, **options: Unpack[ArcadeToolOptions]
    ) -> Callable[P, R]:
        """Add a function, or a result of `@tool`, as a tool, also while the server runs.

        Args:
            func: the function.
            desc: replaces the docstring.
            options: the options of `@tool`. Of a result of `@tool`, only `ui` and `meta` can be changed.

        Raises:
            TypeError: an option does not exist.
        """
        if isinstance(func, ToolFunction):
            definition = func.definition
            if options.get("meta"):
                definition = definition._replace(meta=options["meta"])
            if options.get("ui"):
                definition = definition._replace(extensions={"ui": options["ui"]})
        else:
            definition = tool_definition(func, desc, **options)
        self.put("tools", self._served(definition))
        return func

    def add_tools_from_module(self, module: ModuleType) -> None:
        """Add the tools and declared resources of a module, or of all modules of a package."""
        for item in defined_in(module):
            if isinstance(item, ToolFunction):
                self.add_tool(item)
            else:
                self._declared(item)

    def _served(self, definition: ToolDefinition) -> ToolDefinition:
        """Return a tool with its name on the wire and the URI of its interface."""
        own = pascal_case(definition.name or definition.function.__name__)
        interface = definition.extensions.get("ui")
        if isinstance(interface, ResourceDeclaration):
            definition = definition._replace(extensions={"ui": self._declared(interface)})
        return definition._replace(name=f"{self._kit}_{own}".replace(".", "_"))

    def _declared(self, declaration: ResourceDeclaration) -> str:
        """Add a declared resource and return its URI."""
        definition = declaration.definition(self._kit, self.version or "")
        self.put("resources", definition)
        return definition.uri

    # --- resources and prompts ---

    def resource(self, uri: str, **options: Any) -> Callable[[Decorated], Decorated]:
        """Turn a function of the URI and its variables into a resource. `add_resource` has the options."""

        def record(function: Decorated) -> Decorated:
            self.add_resource(uri, handler=function, **{"name": function.__name__, **options})
            return function

        return record

    def add_resource(self, uri: str, *, handler: Callable[..., Any] | None = None, **options: Any) -> None:
        """Add a resource, or a template if the URI has variables, also while the server runs.

        Args:
            uri: the URI. `{path*}` is a variable that may contain slashes.
            handler: a function of the URI and the variables; None for an empty text.
            options: `name`, `title`, `description`, `mime_type`, `annotations` and `meta`.
        """
        self.put("resources", resource_definition(uri, handler, **options))

    def add_text_resource(self, uri: str, *, text: str, mime_type: str = "text/plain", **options: Any) -> None:
        """Add a text as a resource.

        Raises:
            ValueError: the URI has variables.
        """
        self.add_resource(_without_variables(uri), handler=lambda _: text, mime_type=mime_type, **options)

    def add_file_resource(self, uri: str, *, path: str | Path, **options: Any) -> None:
        """Add a file as a resource. Each request reads the file.

        Raises:
            ValueError: the URI has variables.
        """
        self.add_resource(_without_variables(uri), handler=file_handler(path), **options)

    def add_prompt(self, prompt: Prompt, handler: Callable[..., Any] | None = None) -> None:
        """Add a prompt, also while the server runs.

        Args:
            prompt: its names, description and arguments.
            handler: a function of the arguments, or of the context and the arguments, that returns messages.
        """
        self.known_prompts[prompt.name] = prompt
        self.put("prompts", prompt_definition(prompt, handler))

    # --- hooks ---

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Return the authenticators of `auth`."""
        return self._auth.plugin.register_authenticators() if self._auth else ()

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the routes of `auth`, with the metadata for clients."""
        return self._auth.plugin.register_routes() if self._auth else ()

    @asynccontextmanager
    async def _within_lifespan(self, context: PluginContext) -> AsyncIterator[Any]:
        keys: AbstractAsyncContextManager[None] = self._auth.plugin.lifespan() if self._auth else nullcontext()
        async with keys, super()._within_lifespan(context) as state:
            yield state

    def run(  # type: ignore[override]
        self, host: str = "127.0.0.1", port: int = 8000, reload: bool = False, transport: str = "stdio", **_: Any
    ) -> None:
        """Serve until the process is asked to stop.

        The environment variables ARCADE_SERVER_TRANSPORT, ARCADE_SERVER_HOST and ARCADE_SERVER_PORT take precedence.

        Args:
            host: the address for HTTP.
            port: the port for HTTP.
            reload: has no effect.
            transport: "stdio", "http", "streamable-http" or "streamable".

        Raises:
            ValueError: pegboard does not have the transport, or ARCADE_SERVER_PORT is not a number.
        """
        environ: Mapping[str, str] = os.environ
        chosen = environ.get("ARCADE_SERVER_TRANSPORT") or transport
        if (host_transport := _TRANSPORTS.get(chosen)) is None:
            raise ValueError(f"there is no transport {chosen!r}: use one of {', '.join(_TRANSPORTS)}")
        if reload:
            logger.warning("reload=True has no effect in a program: run `pegboard serve FILE --reload`")
        if host_transport == "stdio":
            super().run()
            return
        settings: dict[str, Any] = {
            "host": environ.get("ARCADE_SERVER_HOST") or host,
            "port": int(environ.get("ARCADE_SERVER_PORT") or port),
        }
        if self.allowed_origins:
            settings["cors_origins"] = list(self.allowed_origins)
        super().run(host_transport, **settings)


def _without_variables(uri: str) -> str:
    if "{" in uri:
        raise ValueError(f"{uri!r} has variables: use add_resource with a handler")
    return uri


# --- Prompts: handlers as functions of pegboard.


def prompt_definition(prompt: Prompt, handler: Callable[..., Any] | None) -> PromptDefinition:
    """Return a prompt.

    Args:
        prompt: its names, description and arguments.
        handler: a function of the arguments, or of the context and the arguments, that returns messages. If None, the
            description is the message.
    """
    run: Callable[..., Any] = handler or (lambda arguments: prompt.description or f"Prompt: {prompt.name}")
    takes_context = sum(parameter.kind in POSITIONAL for parameter in inspect.signature(run).parameters.values()) > 1
    names = {f"argument_{number}": argument.name for number, argument in enumerate(prompt.arguments or ())}

    async def render(running: HostContext, **arguments: str | None) -> Any:
        values = {names[parameter]: value for parameter, value in arguments.items() if value is not None}
        return prompt_result(await called(run, *((Context(running), values) if takes_context else (values,))))

    own = inspect.Parameter("running", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=HostContext)
    parameters = [own, *map(_parameter, names, prompt.arguments or ())]
    return PromptDefinition(
        signed(render, inspect.Signature(parameters)),
        name=prompt.name,
        title=prompt.title,
        description=prompt.description or prompt.name,
    )


def _parameter(parameter: str, argument: PromptArgument) -> inspect.Parameter:
    """Return a parameter that clients call by the name of the argument, which need not be a name of Python."""
    kind: Any = str if argument.required else str | None
    annotation = Annotated[kind, argument.name, argument.description or ""]
    default = inspect.Parameter.empty if argument.required else None
    return inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


# --- Changes of an app's tools, prompts and resources while the server runs.


class AppView:
    """A part of an app.

    Args:
        app: the app.
    """

    def __init__(self, app: MCPApp) -> None:
        self._app = app


class ToolsAPI(AppView):
    """The tools of an app."""

    async def add(self, tool: Callable[..., Any]) -> None:
        """Add a function or a result of `@tool`, or replace the tool of the same name."""
        self._app.add_tool(tool)

    update = add

    async def remove(self, name: str) -> None:
        """Remove a tool by its name on the wire.

        Raises:
            NotFoundError: the app has no such tool.
        """
        self._app.take("tools", name)

    async def list(self) -> list[MCPTool]:
        """Return the names and descriptions of the tools."""
        return [
            MCPTool(name=tool.name or "", title=tool.title, description=tool.description or tool.function.__doc__)
            for tool in self._app._tools
        ]


class PromptsAPI(AppView):
    """The prompts of an app."""

    async def add(self, prompt: Prompt, handler: Callable[..., Any] | None = None) -> None:
        """Add a prompt, or replace the prompt of the same name."""
        self._app.add_prompt(prompt, handler)

    async def remove(self, name: str) -> Prompt:
        """Remove a prompt and return it.

        Raises:
            NotFoundError: the app has no such prompt.
        """
        self._app.take("prompts", name)
        return self._app.known_prompts.pop(name)

    async def list(self) -> list[Prompt]:
        """Return the prompts."""
        return list(self._app.known_prompts.values())


class ResourcesAPI(AppView):
    """The resources of an app."""

    async def add(self, resource: Resource, handler: Callable[..., Any] | None = None) -> None:
        """Add a resource, or replace the resource of the same URI."""
        options = {name: getattr(resource, name) for name in ("name", "title", "description", "mime_type")}
        self._app.add_resource(resource.uri, handler=handler, annotations=resource.annotations, **options)

    async def remove(self, uri: str) -> None:
        """Remove a resource.

        Raises:
            NotFoundError: the app has no such resource.
        """
        self._app.take("resources", uri)

    async def list(self) -> list[Resource]:
        """Return the resources."""
        return [
            Resource(
                uri=resource.uri,
                name=resource.name or resource.uri,
                title=resource.title,
                description=resource.description,
                mime_type=resource.mime_type,
            )
            for resource in self._app._resources
        ]
