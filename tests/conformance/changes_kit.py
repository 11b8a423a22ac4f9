"""The toolkit for scenarios of the official suite with changes: a tool and a prompt that come and go."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.plugin import Plugin, PluginContext, PromptDefinition, ToolDefinition, hookimpl
from pegboard.types import ItemKind


def test_changing_tool() -> str:
    """Say that this tool is here now."""
    return "Here."


def test_changing_prompt() -> str:
    """Ask about the changing tool."""
    return "What has changed?"


class ChangesPlugin(Plugin):
    """The tools `test_trigger_tool_change` and `test_trigger_prompt_change`."""

    @hookimpl
    def register_tools(self, context: PluginContext) -> Iterable[ToolDefinition]:
        added: dict[ItemKind, tuple[str, ...]] = {}

        def turn(kind: ItemKind, definition: ToolDefinition | PromptDefinition) -> str:
            if kind in added:
                context.catalogue.remove(kind, *added.pop(kind))
                return "It is gone."
            added[kind] = context.catalogue.add(definition)
            return "It is there."

        async def test_trigger_tool_change() -> str:
            """Add a tool, or remove it again."""
            return turn("tools", ToolDefinition(test_changing_tool))

        async def test_trigger_prompt_change() -> str:
            """Add a prompt, or remove it again."""
            return turn("prompts", PromptDefinition(test_changing_prompt))

        return [ToolDefinition(test_trigger_tool_change), ToolDefinition(test_trigger_prompt_change)]


kit = ChangesPlugin
