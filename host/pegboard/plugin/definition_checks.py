"""The contract for checks of definitions: they decide whether the host serves an item."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from pegboard.types.catalogue import ItemKind, Prompt, Resource, ResourceTemplate, Tool


class CheckedDefinition(NamedTuple):
    """An item that the host is about to serve, and its owner.

    Attributes:
        kind: "tools", "resources" or "prompts". Templates are resources.
        name: the name on the wire, the URI, or the URI template.
        item: the item as clients see it, before middleware.
        owner: `toolkit:NAME` or `plugin:NAME`; `plugin:NAME/TOOLKIT` if the definition names its toolkit, such as the
            definitions of mounted servers.
        distribution: the distribution of the owner; "" if a program or another server supplies it.
        version: the version of the distribution; "" without one.
    """

    kind: ItemKind
    name: str
    item: Tool | Resource | ResourceTemplate | Prompt
    owner: str
    distribution: str = ""
    version: str = ""


class DefinitionCheck(ABC):
    """A check of definitions. Its methods may run in any thread and must not block.

    Attributes:
        files_read: the paths of files that the check read. A reload loads its plugin again if one of them has changed.
    """

    files_read: Sequence[str] = ()

    @abstractmethod
    def rejection(self, definition: CheckedDefinition) -> str | None:
        """Return the reason why the host must not serve an item, or None.

        The host calls this for each item when it starts, and for each item that is added or replaced later. It shows
        the reason to the operator, never to clients. If the method raises, the item is not served.
        """
