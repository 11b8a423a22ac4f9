"""Plugins, the context of their hooks, and their catalogues."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias

from pegboard.plugin.bus import Bus
from pegboard.plugin.definitions import ContentFolder, PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.catalogue import ItemKind

if TYPE_CHECKING:
    import logging

    from typing_extensions import TypeVar

    from pegboard.context import Context
    from pegboard.plugin.commands import Finding
    from pegboard.plugin.routes import Authenticator
    from pegboard.plugin.stores import Store
    from pegboard.types.authorization import ToolAuthorization
    from pegboard.types.callers import Authorization
    from pegboard.types.calls import Call, Outcome

    ConfigT = TypeVar("ConfigT", default=Any)
else:
    from typing import TypeVar

    ConfigT = TypeVar("ConfigT")


class Catalogue(Protocol):
    """The tools, resources and prompts of one plugin, for changes from any thread while the host runs.

    Each method call is one atomic change. Lists and calls that begin after the change use the new definitions. Earlier
    calls are not affected. Before the host has started, `add` contributes definitions together with the plugin's hooks,
    and `update` and `remove` raise. All changes are lost when the host stops.
    """

    def add(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Add definitions.

        Args:
            definitions: the definitions. Plain functions and results of `@tool` are added as tools.

        Returns:
            The name on the wire, or the URI, of each definition. Adding a definition that the operator has disabled is
            not an error; the definition is not served.

        Raises:
            ToolDefinitionError: a definition is invalid, or its name is in use.
        """

    def update(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Replace the plugin's own definitions that have the same names.

        Args:
            definitions: the new definitions, as in `add`.

        Returns:
            The name on the wire, or the URI, of each definition.

        Raises:
            ToolDefinitionError: a definition is invalid, or the plugin has no definition with its name.
        """

    def remove(self, kind: ItemKind, *names: str) -> None:
        """Remove the plugin's own definitions. Calls in flight continue.

        Args:
            kind: "tools", "resources" or "prompts".
            names: names on the wire, as `add` returned them; for resources, URIs. A toolkit may omit its own prefix,
                but not that of a `toolkit` that the definition names.

        Raises:
            ToolDefinitionError: the plugin has no definition with one of these names.
        """

    def complete(self, unmatched: Mapping[tuple[str | int, ...], str], names: Collection[str]) -> None:
        """Report settings that name no item, after all items of a part of the plugin are known.

        The host reports its own settings too, such as `[host] disabled_tools`, unless a plugin awaits what they name.

        Args:
            unmatched: the names or globs that match nothing, by the keys of each in the section of the plugin.
            names: the names that exist, for suggestions.

        Raises:
            ToolDefinitionError: the plugin does not run in this host now.
        """


async def _no_token(required: "ToolAuthorization", call: "Call | Context[Any]") -> "Authorization":
    """Raise an error, because a plugin outside of a host has no tokens."""
    from pegboard.errors import AuthorizationRequiredError

    raise AuthorizationRequiredError(required.name, scopes=required.scopes)


async def _no_host(*_: Any) -> Any:
    """Raise an error, because a plugin outside of a host makes no calls and has no stores."""
    raise RuntimeError("the plugin has no host: use calls and stores only after the host has started")


class FoundFile(NamedTuple):
    """The place of a file with a fixed name. See `PluginContext.find_file`."""

    path: str | None = None
    unread: str | None = None


class PluginContext(NamedTuple):
    """The context of a plugin's hooks. It lives as long as the host.

    Attributes:
        name: the name of the plugin and of its entry point.
        config: the plugin's validated settings; None if it has no `Config`.
        logger: the plugin's logger.
        catalogue: the plugin's tools, resources and prompts, for changes while the host runs.
        get_secret: a function that returns a secret by its name, for example a name in the plugin's settings. The
            function may block. It returns None while the host loads plugins and enters their first lifespans, for the
            host's own secrets, and if no store has the secret.
        directory: the directory of the configuration file, in which a plugin may look for files with fixed names. None
            without a configuration file.
        get_token: an async function that returns the token of a call's user, for middleware and for functions without
            `requires_auth`. Its arguments are the required token, and the call or its `Context`. It asks the token
            sources as the host does for a tool, and raises `AuthorizationRequiredError` if no source has the token.
        find_file: a function that returns the place of a file with a fixed name, such as ".env": beside the
            configuration file, else in a trusted folder upward from the working directory, else in the user's
            configuration directory. `path` is the file that a plugin may read; it need not exist, and is None if there
            is no place for it. `unread` is a file that was found in a folder that is not trusted, for messages; a
            plugin must not read it.
        transports: the names in `[host] transports`, or the transport that the command names.
        find_store: a function that returns the first `Store` of a running plugin with a contract such as `LoginStore`,
            or None. The caller opens it. It returns None before all plugins are loaded.
        authenticators: a function that returns the authenticators of all running plugins, in a lifespan and later.
        folders: a function that returns the folders of a kind that toolkits and plugins ship now (`register_folders`),
            from any thread. While plugins are loaded it returns none.
        worker: the number of this process among those that serve together, from 1, and how many there are.
        dispatch: an async function that runs a call through all middleware and returns its outcome, as
            `ProtocolContext.dispatch`.
        store: an async function that returns a store that a setting of the plugin selects (`StoreName`). Its arguments
            are the contract, the name, and an async function that the host calls before the store closes.
        serving: an async function that waits until a transport is open.
        bus: sends messages to the processes that share the state of `[host] state`.
    """

    name: str
    config: Any
    logger: "logging.Logger"
    catalogue: Catalogue
    get_secret: Callable[[str], str | None] = lambda name: None  # outside of a host
    directory: str | None = None
    get_token: "Callable[[ToolAuthorization, Call | Context[Any]], Awaitable[Authorization]]" = _no_token
    find_file: Callable[[str], FoundFile] = lambda name: FoundFile()  # as above
    transports: tuple[str, ...] = ()
    find_store: "Callable[[type[Any]], Store | None]" = lambda contract: None  # as above
    authenticators: "Callable[[], Sequence[Authenticator]]" = lambda: ()  # as above
    folders: Callable[[str], Sequence[ContentFolder]] = lambda kind: ()  # as above
    worker: tuple[int, int] = (1, 1)
    dispatch: "Callable[[Call], Awaitable[Outcome]]" = _no_host
    store: Callable[[type[Any], str, Callable[[], Awaitable[None]]], Awaitable[Any]] = _no_host
    serving: Callable[[], Awaitable[Any]] = _no_host
    bus: Bus = Bus()


class Plugin(Generic[ConfigT]):
    """The base class of plugins. The host creates one object per host, with the validated settings.

    `Plugin[MyConfig]` gives type checkers the type of `config`.

    Attributes:
        config: the validated settings.
        Config: a `PluginConfig` model of the `[plugins.NAME]` section; None for no settings.
        host_api: the version of the hooks that the plugin uses.
        offers: the kinds of items that the plugin may add while the host runs: "tools", "resources", "prompts" or
            "completions". Protocols then declare them from the start.
        named_providers: the ids of the auth providers that settings name, by the keys of each setting in the section.
            The host warns of a provider that no running plugin describes.
        excludes: the names of plugins that cannot run beside this one, each with the reason and the fix. The host
            refuses to start with both.
    """

    Config: ClassVar[type[Any] | None] = None
    host_api: ClassVar[int] = 1
    offers: tuple[str, ...] = ()
    named_providers: Mapping[tuple[str, ...], str] = {}
    excludes: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: ConfigT) -> None:
        self.config = config

    def unavailable(self) -> Iterable[str]:
        """Return the toolkits whose items the plugin cannot list now, such as the names of mounted servers.

        Commands call this after the first lists, and name these toolkits. The log has the reasons.
        """
        return ()

    def awaits(self, name: str) -> bool:
        """Return True if the plugin may still add a tool with a name, because it does not know all its tools yet.

        The host does not report settings that name such a tool, before the plugin calls `Catalogue.complete`.

        Args:
            name: a name in any spelling, or a glob.
        """
        return False

    async def missing_items(self, name: str | None, progress: Callable[[str], None] | None) -> "Mapping[str, Finding]":
        """Wait for the items that the plugin adds while the host runs. Return the toolkits whose items are missing.

        Commands that print or judge items call this in the running host, before the first lists. Items that nothing
        confirms in time, such as remembered definitions, are removed.

        Args:
            name: the tool that the command needs, in any spelling; None if the command needs all items.
            progress: prints what is awaited after a moment, such as "waiting for notes"; None to wait no longer than
                the first list of a client, and to keep items that are not confirmed (`--no-wait`).

        Returns:
            The reason for each toolkit: an error, or a warning if the command succeeds without these items.
        """
        return {}


Lifespan: TypeAlias = AbstractAsyncContextManager[Any]
