"""Every hook of pegboard.

Hooks assemble the host once, when it starts. They are plain functions that return the contributions of a plugin and
change nothing. A plugin with an `async` hook, a wrapper or an ordering marker is refused. The host calls each plugin
separately, in the order of names. A plugin whose hook raises is left out as a whole. If the operator has named it, the
host does not start.

An implementation names only the parameters that it needs.
"""

# The host calls the implementations of plugins, so hooks have no body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from pegboard.authoring import ToolFunction
    from pegboard.plugin.base import Lifespan, PluginContext
    from pegboard.plugin.definition_checks import DefinitionCheck
    from pegboard.plugin.definitions import ContentFolder, PromptDefinition, ResourceDefinition, ToolDefinition
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.plugin.methods import Extension, Method, NotificationHandler, Topic
    from pegboard.plugin.middleware import Middleware, MiddlewareFunction
    from pegboard.plugin.observers import Gauge, Observer
    from pegboard.plugin.routes import Authenticator, Route
    from pegboard.plugin.secrets import SecretStore, TokenSource
    from pegboard.plugin.stores import Store
    from pegboard.plugin.toolkit_loading import FoundToolkit, ToolkitLoader
    from pegboard.plugin.transports import StreamProtocol, Transport
    from pegboard.types.authorization import AuthProvider

HOST_API = 1
"""The version of these hooks. A plugin that requires another version is refused."""

hookspec = pluggy.HookspecMarker("pegboard")
hookimpl = pluggy.HookimplMarker("pegboard")


@hookspec
def register_tools(context: PluginContext) -> Iterable[ToolDefinition | ToolFunction[..., Any]]:
    """Return tools: definitions, or functions decorated with `@tool`.

    A tool of a `Toolkit` is named `<toolkit>_<tool>`. Other tools keep their names. An invalid definition disables only
    that tool. If two tools have the same name, neither is served, and both owners are reported.
    """


@hookspec
def register_resources(context: PluginContext) -> Iterable[ResourceDefinition]:
    """Return resources and resource templates (RFC 6570).

    If two have the same URI or template, neither is served. [Content](content.md#resources) defines the order of
    templates.
    """


@hookspec
def register_prompts(context: PluginContext) -> Iterable[PromptDefinition]:
    """Return prompts. A prompt's arguments are the parameters of its function. Names follow the rules for tools."""


@hookspec
def register_folders(context: PluginContext) -> Iterable[ContentFolder]:
    """Return folders of files for other plugins, such as the skills of a toolkit.

    A plugin that serves a kind of files asks for its folders with `PluginContext.folders`.
    """


@hookspec
def register_definition_checks(context: PluginContext) -> Iterable[DefinitionCheck]:
    """Return checks that decide whether the host serves an item.

    An item that a check rejects is not served. `pegboard why` and the log show the reason. Changes that middleware
    makes to lists are not checked.
    """


@hookspec
def register_auth_providers(context: PluginContext) -> Iterable[AuthProvider]:
    """Return descriptions of the providers whose tokens tools require (`requires_auth`).

    A tool names a provider with a subclass of `ToolAuthorization` whose `provider` is the description. A tool that
    requires a provider without a description is not served. If two descriptions have the same id, neither is used.
    """


@hookspec
def register_error_adapters(context: PluginContext) -> Iterable[ErrorAdapter]:
    """Return adapters that convert unexpected exceptions of tools, resources and prompts to errors for the caller.

    Exceptions that no adapter knows are masked. [Error adapters](error-adapters.md) defines the order.
    """


@hookspec
def register_middleware(context: PluginContext) -> Iterable[Middleware | MiddlewareFunction]:
    """Return middleware: objects of `Middleware`, or functions `async (call, call_next) -> Outcome`.

    [Middleware](middleware.md) defines the order and the methods.
    """


@hookspec
def register_transports(context: PluginContext) -> Iterable[Transport]:
    """Return transports. A transport runs if `[host] transports` lists its name, or if a command names it."""


@hookspec
def register_protocols(context: PluginContext) -> Iterable[StreamProtocol]:
    """Return the protocol for message streams. A transport requires exactly one."""


@hookspec
def register_methods(context: PluginContext) -> Iterable[Extension | Method | NotificationHandler | Topic]:
    """Return additions to the protocol: JSON-RPC methods, notification handlers, and their extensions.

    [Protocol extensions](extensions.md) defines the rules. If two methods have the same name, neither is served, nor
    are their extensions, and both owners are reported.
    """


@hookspec
def register_routes(context: PluginContext) -> Iterable[Route]:
    """Return HTTP routes. Every HTTP server of the host serves all routes, with the same checks.

    If two have the same method and path, neither is served, and both owners are reported.
    """


@hookspec
def register_token_sources(context: PluginContext) -> Iterable[TokenSource]:
    """Return sources of the tokens that tools require (`requires_auth`).

    At each call, the first source that has the token provides it; [authorization](authorization.md#token-sources)
    defines the order. Without a token the call fails with an `AuthorizationRequiredError`: the first that a source
    raised.
    """


@hookspec
def register_authenticators(context: PluginContext) -> Iterable[Authenticator]:
    """Return authenticators for HTTP requests. Each serves one route policy.

    A policy with authenticators admits only callers that an authenticator knows, even from loopback. The first
    authenticator that knows the caller admits the request. A route whose policy has no authenticator is not served,
    except for the policies "public" and "mcp". An authenticator that raises admits no caller.
    """


@hookspec
def register_secret_stores(context: PluginContext) -> Iterable[SecretStore]:
    """Return stores of secrets. The first store that has a secret supplies it.

    The host asks the plugins in `[host] secret_stores` first, then the others in the order of names. A store that
    raises is reported and skipped.
    """


@hookspec
def register_stores(context: PluginContext) -> Iterable[Store]:
    """Return stores in which other plugins keep data: sessions (`SessionStore`) and events (`EventStore`).

    A setting selects a store by its name, which is the plugin's name unless the store has its own:
    `[plugins.mcp] session_store = "redis_sessions"`. If two stores have the same contract and name, neither can be
    selected.
    """


@hookspec
def register_telemetry(context: PluginContext) -> Iterable[Observer | Gauge]:
    """Return observers, and gauges for the observers of all plugins.

    If two gauges have the same name, observers receive neither of them. Middleware observes calls.
    """


@hookspec
def register_toolkits(context: PluginContext) -> Iterable[FoundToolkit]:
    """Return toolkits without entry points, such as those in files. They are enabled, and can be disabled.

    A found toolkit replaces an installed toolkit with the same name and distribution. The host imports toolkits after
    all plugins. A toolkit cannot implement this hook.
    """


@hookspec
def register_toolkit_loaders(context: PluginContext) -> Iterable[ToolkitLoader]:
    """Return loaders. A loader decides how a toolkit is loaded, for example later or in another process.

    For each toolkit the host calls the loaders, in the order of the names of their plugins, until one returns an
    object. Without one, the host imports the toolkit. A toolkit cannot implement this hook.
    """


@hookspec
def lifespan(context: PluginContext) -> Lifespan:
    """Return an async context manager that the host enters at its start and leaves when it stops, in reverse order.

    Its value is the `context.state` of the plugin's tools. A lifespan that fails at the start counts as a hook that
    raises. Each lifespan runs in its own task, so it can contain a task group.
    """
