"""Plugins, the context of their hooks, and their catalogues."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.catalogue import ItemKind

if TYPE_CHECKING:
    import logging


class Catalogue(Protocol):
    """The tools, resources and prompts of one plugin. They can be changed while the host runs, from any thread.

    Each call is one change: all of it is applied, or none. Lists and calls that begin after it see the change; those
    that have begun do not. Until the host has started, `add` contributes definitions together with the plugin's hooks,
    and
    `update` and `remove` raise. Nothing outlives the host.
    """

    def add(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Add definitions.

        Args:
            definitions: the definitions. A plain function or the result of `@tool` is a tool.

        Returns:
            For each definition its name on the wire, or its URI. A definition that the operator disabled is not served,
                which is not an error.

        Raises:
            ToolDefinitionError: a definition is invalid, or its name is in use.
        """
        ...

    def update(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Replace the plugin's own definitions of the same names.

        Args:
            definitions: the new definitions, as in `add`.

        Returns:
            For each definition its name on the wire, or its URI.

        Raises:
            ToolDefinitionError: a definition is invalid, or the plugin has none of that name.
        """
        ...

    def remove(self, kind: ItemKind, *names: str) -> None:
        """Remove the plugin's own definitions. Calls in flight continue.

        Args:
            kind: "tools", "resources" or "prompts".
            names: names on the wire, as `add` returned them, or the plugin's own names; URIs of resources.

        Raises:
            ToolDefinitionError: the plugin has no definition of that name.
        """
        ...


def _no_secret(name: str) -> None:
    """Return None, where there is no secret store."""


class PluginContext(NamedTuple):
    """The context of a plugin's hooks. It lives as long as the host.

    Attributes:
        name: the plugin's name, that of its entry point.
        config: the plugin's validated settings; None if it has no `Config`.
        logger: the plugin's logger.
        catalogue: the plugin's tools, resources and prompts, for changes while the host runs.
        get_secret: returns a secret by its name, for names in the plugin's settings. It returns None until the host has
            started, if no store has the secret, and for the host's own secrets. It may block.
        directory: the directory of the configuration file, where a plugin may look for files with fixed names; None
            without a file.
    """

    name: str
    config: Any
    logger: "logging.Logger"
    catalogue: Catalogue
    get_secret: Callable[[str], str | None] = _no_secret
    directory: str | None = None


class Plugin:
    """The base class of plugins. The host creates one object per host, with the validated settings.

    Attributes:
        Config: a `PluginConfig` model of the `[plugins.NAME]` section; None for no settings.
        host_api: the version of the hooks that the plugin uses.
    """

    Config: ClassVar[type[Any] | None] = None
    host_api: ClassVar[int] = 1

    def __init__(self, config: Any) -> None:
        self.config = config


Lifespan: TypeAlias = AbstractAsyncContextManager[Any]
