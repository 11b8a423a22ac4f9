"""The toolkit for scenarios of the official suite with changes: a tool and a prompt that come and go.

It imports nothing but `pegboard`'s public names.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

from pegboard.plugin import Plugin, PluginContext, PromptDefinition, ToolDefinition, hookimpl
from pegboard.types import ItemKind


def test_changing_tool() -> str:
    """Say that this tool is here now."""
    return "Here."


def test_changing_prompt() -> str:
    """Ask about the changing tool."""
    return "What has changed?"


class Changing:
    """Something that is there after every other turn."""

    def __init__(self, context: PluginContext, kind: ItemKind, definition: ToolDefinition | PromptDefinition) -> None:
        self._catalogue = context.catalogue
        self._kind = kind
        self._definition = definition
        self._names: tuple[str, ...] = ()
        self._lock = Lock()

    def turn(self) -> str:
        """Let it come, or go."""
        with self._lock:
            if self._names:
                self._catalogue.remove(self._kind, *self._names)
                self._names = ()
                return "It is gone."
            self._names = self._catalogue.add(self._definition)
            return "It is there."


class ChangesPlugin(Plugin):
    """The tools `test_trigger_tool_change` and `test_trigger_prompt_change`."""

    @hookimpl
    def register_tools(self, context: PluginContext) -> Iterable[ToolDefinition]:
        """The two tools."""
        tool = Changing(context, "tools", ToolDefinition(test_changing_tool))
        prompt = Changing(context, "prompts", PromptDefinition(test_changing_prompt))

        def test_trigger_tool_change() -> str:
            """Add a tool, or take it away again."""
            return tool.turn()

        def test_trigger_prompt_change() -> str:
            """Add a prompt, or take it away again."""
            return prompt.turn()

        return [ToolDefinition(test_trigger_tool_change), ToolDefinition(test_trigger_prompt_change)]


kit = ChangesPlugin
