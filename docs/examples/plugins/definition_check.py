"""A check of definitions: the host serves only tools that declare that they change nothing."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.plugin import CheckedDefinition, DefinitionCheck, Plugin, hookimpl
from pegboard.types import Tool


class ReadOnlyTools(DefinitionCheck):
    """Rejects the tools that may change something."""

    def rejection(self, definition: CheckedDefinition) -> str | None:
        """Return the reason for a tool without `readOnlyHint`."""
        item = definition.item
        if isinstance(item, Tool) and not (item.annotations and item.annotations.read_only):
            return f"{definition.owner} does not declare it as read-only"
        return None


class ReadOnlyPlugin(Plugin):
    """Enabled by `[plugins.read_only]`."""

    @hookimpl
    def register_definition_checks(self) -> Iterable[DefinitionCheck]:
        """Return the check."""
        return [ReadOnlyTools()]
