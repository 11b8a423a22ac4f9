"""The toolkit for scenarios of the official suite with changes: a tool and a prompt that come and go.

Processes that share state repeat the changes of each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

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
        changing: dict[ItemKind, ToolDefinition | PromptDefinition] = {
            "tools": ToolDefinition(test_changing_tool),
            "prompts": PromptDefinition(test_changing_prompt),
        }

        def turn(kind: ItemKind) -> str:
            if kind in added:
                context.catalogue.remove(kind, *added.pop(kind))
                return "It is gone."
            added[kind] = context.catalogue.add(changing[kind])
            return "It is there."

        def repeat(body: bytes, sender: int) -> None:
            turn(cast(ItemKind, body.decode()))

        context.bus.listen("changes/turned", repeat)

        async def test_trigger_tool_change() -> str:
            """Add a tool, or remove it again."""
            await context.bus.send("changes/turned", b"tools")
            return turn("tools")

        async def test_trigger_prompt_change() -> str:
            """Add a prompt, or remove it again."""
            await context.bus.send("changes/turned", b"prompts")
            return turn("prompts")

        return [ToolDefinition(test_trigger_tool_change), ToolDefinition(test_trigger_prompt_change)]


kit = ChangesPlugin
