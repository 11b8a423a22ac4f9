"""Definitions bound to a host: those that can be served, and those that are not served."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.plugin.origin import Origin
from pegboard.types.catalogue import ItemKind, Prompt, Resource, ResourceTemplate, Tool

if TYPE_CHECKING:
    from pegboard.authorization.providers import MissingToken

SINGULAR: dict[ItemKind, str] = {"resources": "resource", "tools": "tool", "prompts": "prompt"}
"""The kinds in the order of binding. Resources come first because tools may refer to them."""


class Unserved(NamedTuple):
    """A tool, resource or prompt that exists but is not served.

    Attributes:
        kind: the kind of the item.
        name: its name on the wire, or its URI.
        owner: the name of its plugin.
        reason: the reason why it is not served.
        is_rejected: True if a check of a plugin or a limit of its toolkit rejected it. The operator is told then.
    """

    kind: ItemKind
    name: str
    owner: str
    reason: str
    is_rejected: bool = False

    def __str__(self) -> str:
        return f"{SINGULAR[self.kind]} {self.name!r} is not served: {self.reason}"


class BoundDefinition(NamedTuple):
    """A definition that can be served.

    Attributes:
        field: the kind, as the name of a field of `Assembly`.
        name: its name in that field.
        origin: its plugin.
        item: the value in that field.
        forms: the normalized spellings of a tool's name.
        missing: the secrets that a tool requires but that are not set.
        where: the file and line of its function, or of the operator's changes, for messages.
        missing_token: the token that a tool requires, if the host neither has it nor can obtain it.
    """

    field: ItemKind
    name: str
    origin: Origin
    item: Any
    forms: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    where: str = ""
    missing_token: MissingToken | None = None

    @property
    def shown(self) -> Tool | Resource | ResourceTemplate | Prompt:
        """The tool, resource, template or prompt as clients see it."""
        item: Tool | Resource | ResourceTemplate | Prompt
        item = self.item.tool if self.field == "tools" else self.item[0]
        return item


BindResult: TypeAlias = BoundDefinition | Unserved

Definition: TypeAlias = ToolDefinition | ResourceDefinition | PromptDefinition
Edits: TypeAlias = dict[LoadedPlugin, dict[tuple[ItemKind, str], Definition | None]]
"""The definitions that plugins have added or updated at run time, by kind and name. None for a removed definition."""
