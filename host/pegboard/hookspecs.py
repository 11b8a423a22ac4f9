"""Every hook of pegboard; a hook's docstring is its reference.

Hooks assemble the host, once, when it starts. They are plain functions: a hook returns what its plugin contributes and
changes nothing. `async def`, wrappers and ordering markers are refused when the plugin is loaded. Each plugin is called
by itself, in the order of names, so that the host knows whose contribution is whose; a hook that raises costs its
plugin everything it contributed, and no other plugin anything.

An implementation names only the parameters it needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from pegboard.authoring import ToolFunction
    from pegboard.plugin.base import Lifespan, PluginContext
    from pegboard.plugin.commands import Command
    from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.plugin.methods import Extension, Method, NotificationHandler, Topic
    from pegboard.plugin.middleware import Middleware, MiddlewareFunction
    from pegboard.plugin.routes import Authenticator, Route
    from pegboard.plugin.secrets import SecretStore
    from pegboard.plugin.stores import Store
    from pegboard.plugin.token_sources import TokenSource
    from pegboard.plugin.transports import StreamProtocol, Transport
    from pegboard.types.authorization import AuthProvider

HOST_API = 1
"""The version of these hooks; a plugin that asks for another is refused with advice."""

hookspec = pluggy.HookspecMarker("pegboard")
hookimpl = pluggy.HookimplMarker("pegboard")


@hookspec
def register_tools(context: PluginContext) -> Iterable[ToolDefinition | ToolFunction[..., Any]]:
    """Contribute tools: definitions, or functions decorated with `@tool`.

    Tools of a `Toolkit` are named `<toolkit>_<tool>`, all others carry their own name. A definition that is wrong costs
    that tool alone. Of two tools with one name neither is served, and both owners are named.
    """
    raise NotImplementedError


@hookspec
def register_resources(context: PluginContext) -> Iterable[ResourceDefinition]:
    """Contribute resources, and templates of resources (RFC 6570).

    Of two with one URI, or one template, neither is served. A URI that several match is read by the resource of just
    this URI, else by the template that fixes most of it and whose function takes its values.
    """
    raise NotImplementedError


@hookspec
def register_prompts(context: PluginContext) -> Iterable[PromptDefinition]:
    """Contribute prompts, whose functions' parameters are their arguments. Names follow the rules of tools."""
    raise NotImplementedError


@hookspec
def register_auth_providers(context: PluginContext) -> Iterable[AuthProvider]:
    """Contribute descriptions of those whose tokens tools may require (`requires_auth`).

    Authors name a provider by a subclass of `ToolAuthorization` whose `provider` is the description. A tool that
    requires one that no plugin describes is not served. The error adapters of the plugin that a description names are
    asked first about failures of such tools, after those tools' own. Of two descriptions with one id neither holds.
    """
    raise NotImplementedError


@hookspec
def register_error_adapters(context: PluginContext) -> Iterable[ErrorAdapter]:
    """Contribute what makes an error for the caller out of an exception that a tool, resource or prompt did not expect.

    A tool's own adapters are asked first, then those that the provider of its authorization names
    (`AuthProvider.error_adapters`), then those of the plugins that `[host] error_adapters` lists, in its order, then
    the others in the order of plugin names; the first that knows the exception gives the error. One whose attribute
    `fallback` is true is asked after all others: it knows libraries that services' own are built on. What an author
    raises on purpose is never adapted; what no adapter knows is masked. An adapter that raises is logged and passed
    over. `Upstream`, `instance_of`, `error_code` and `retry_after_ms` help to write one.
    """
    raise NotImplementedError


@hookspec
def register_middleware(context: PluginContext) -> Iterable[Middleware | MiddlewareFunction]:
    """Contribute code around calls: objects of `Middleware`, or functions `async (call, call_next) -> Outcome`.

    A function stands around every request and notification; `@around("tools/call")` says around what else. `[host]
    middleware` lists names, outermost first; what is not listed stands inside those, in the order of names.
    """
    raise NotImplementedError


@hookspec
def register_transports(context: PluginContext) -> Iterable[Transport]:
    """Contribute transports. One runs when `[host] transports` lists its name, or when a command asks for it."""
    raise NotImplementedError


@hookspec
def register_protocols(context: PluginContext) -> Iterable[StreamProtocol]:
    """Contribute the protocol that answers on message streams. There must be exactly one when a transport runs."""
    raise NotImplementedError


@hookspec
def register_methods(context: PluginContext) -> Iterable[Extension | Method | NotificationHandler | Topic]:
    """Contribute to the protocol: JSON-RPC methods, handlers of notifications, and the extensions they belong to.

    A `Method` runs like the host's own, with middleware around it. One that belongs to an `Extension` answers -32601
    where that is not on, and -32021 where the client does not declare it; a kind of result that an extension defines
    goes only to clients that declare it. What is advertised is what is served: of two methods with one name neither is,
    nor is the extension of either, and both owners are named. Nobody can take the specification's own names, or the
    keys of `_meta` that it has reserved.
    """
    raise NotImplementedError


@hookspec
def register_routes(context: PluginContext) -> Iterable[Route]:
    """Contribute HTTP routes. Every HTTP server of the host serves all of them, behind the same checks.

    Of two with one method and path neither is served, and both owners are named.
    """
    raise NotImplementedError


@hookspec
def register_token_sources(context: PluginContext) -> Iterable[TokenSource]:
    """Contribute places that the tokens for tools come from (`requires_auth`).

    What a request itself brings comes first. Then, at each call, those of the plugins that `[host] token_sources` lists
    are asked, in its order, and the others in the order of plugin names; the first that has a token gives it. One that
    raises, or does not answer within `[host] token_seconds`, is logged and passed over. Where none has one the call
    ends with an `AuthorizationRequiredError`: that of the first source that raised one, for it knows where the person
    can authorize. The host keeps no token.

    A source that looks in a secret of the host may say in which (`secret`): the operator is told when the host starts
    where all sources name secrets that are not set, and so is this machine's user at the call.
    """
    raise NotImplementedError


@hookspec
def register_authenticators(context: PluginContext) -> Iterable[Authenticator]:
    """Contribute who says whose requests come in over HTTP, each for the routes of one policy.

    A policy that has one admits nobody else, from loopback neither; of several for one policy the first that knows the
    caller admits the request, else the refusal that says most is the answer. A route whose policy has none is not
    served, but for "public" and the MCP endpoint's own, "mcp". One that raises admits nobody.
    """
    raise NotImplementedError


@hookspec
def register_commands(context: PluginContext) -> Iterable[Command]:
    """Contribute commands of `pegboard`, such as `pegboard token`.

    They are asked for where a command is typed that pegboard itself does not have, and for `pegboard --help`; none can
    take the place of its own. Of two with one name neither can be run.
    """
    raise NotImplementedError


@hookspec
def register_secret_stores(context: PluginContext) -> Iterable[SecretStore]:
    """Contribute places that secrets come from; the first that has one gives it.

    The plugins that `[host] secret_stores` lists are asked in its order, then others in the order of plugin names. A
    store that raises is reported and passed over, with the message of what it raised: that must not hold a secret.
    """
    raise NotImplementedError


@hookspec
def register_stores(context: PluginContext) -> Iterable[Store]:
    """Contribute stores that other plugins keep their data in: sessions (`SessionStore`), events (`EventStore`).

    Configuration selects a store by its name, which is the plugin's name unless the store has its own:
    `[plugins.mcp] session_store = "redis_sessions"`. A store reads the settings and secrets of its own plugin. Of two
    stores with one contract and one name neither can be selected.
    """
    raise NotImplementedError


@hookspec
def lifespan(context: PluginContext) -> Lifespan:
    """Return an async context manager that the host enters when it starts and leaves when it stops, in reverse order.

    What entering gives is the `context.state` of the plugin's tools. A plugin whose lifespan fails to start is left out
    whole.
    """
    raise NotImplementedError
