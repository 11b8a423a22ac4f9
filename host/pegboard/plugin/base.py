"""What plugins are given, and what they contribute."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.catalogue import ItemKind

if TYPE_CHECKING:
    import logging


class Catalogue(Protocol):
    """A plugin's own tools, resources and prompts, changed while the host runs; from any thread.

    Each call is one change, all of it or nothing: it is seen by every list and call that begins after it, and by none
    that has begun. Until the host has started, what is added is contributed with what the plugin's hooks return, and
    neither `update` nor `remove` has anything to work on. Nothing of it outlives the host.
    """

    def add(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Offer more.

        Args:
            definitions: what to offer; a plain function is a tool, and so is what `@tool` made of one.

        Returns:
            For each its name on the wire, or its URI. What the operator disabled is withheld, and that is no error.

        Raises:
            ToolDefinitionError: one of them is wrong, or what it is called is there already.
        """
        ...

    def update(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Offer others in the place of the plugin's own of the same names.

        Returns:
            For each its name on the wire, or its URI.

        Raises:
            ToolDefinitionError: one of them is wrong, or the plugin has none of that name.
        """
        ...

    def remove(self, kind: ItemKind, *names: str) -> None:
        """Offer the plugin's own no more. Calls in flight go on to their end.

        Args:
            kind: "tools", "resources" or "prompts".
            names: names on the wire, as `add` gave them, or the plugin's own names; URIs of resources.

        Raises:
            ToolDefinitionError: the plugin has none of that name.
        """
        ...


def _no_secret(name: str) -> None:
    """The secret of that name, where there is no store."""


class PluginContext(NamedTuple):
    """What a hook is told about its own plugin; never the host.

    Attributes:
        name: the plugin's name, that of its entry point.
        config: its validated settings, None when it takes none.
        logger: where it logs.
        catalogue: its own tools, resources and prompts, for changes while the host runs.
        get_secret: a secret of the operator's by its name, None where no store has it, and for those of the host's own;
            for names that the plugin's settings give. Stores may block. None, too, until the host has started.
        directory: the folder of the configuration file in use, where the plugin may look for files that nobody names;
            None without a file.
    """

    name: str
    config: Any
    logger: "logging.Logger"
    catalogue: Catalogue
    get_secret: Callable[[str], str | None] = _no_secret
    directory: str | None = None


class Plugin:
    """Base of plugins written as a class: built once per host, with its validated settings.

    Attributes:
        Config: a `PluginConfig` model of the `[plugins.NAME]` section, None when there are no settings.
        host_api: the version of the hooks it is written for.
    """

    Config: ClassVar[type[Any] | None] = None
    host_api: ClassVar[int] = 1

    def __init__(self, config: Any) -> None:
        self.config = config


Lifespan: TypeAlias = AbstractAsyncContextManager[Any]
