"""A command: `pegboard greet NAME` prints a greeting. `pegboard_plugin.toml` beside this module declares it."""

from __future__ import annotations

from pegboard import PluginConfig, ToolError
from pegboard.plugin import CommandContext, Plugin


class GreetConfig(PluginConfig):
    """`[plugins.greet]`.

    Attributes:
        greeting: the word before the name.
    """

    greeting: str = "Hello"


class GreetPlugin(Plugin):
    """Enabled by `[plugins.greet]`."""

    Config = GreetConfig


def run(command: CommandContext) -> int:
    """Print the greeting."""
    name = command.options.name
    if not name.strip():
        raise ToolError("the name is empty: write a name, such as `pegboard greet Ada`")
    command.print(f"{command.settings.greeting}, {name}{'!' if command.options.loud else '.'}")
    return 0
