"""The command `pegboard greet NAME`, and a check of `pegboard doctor`. `pegboard_plugin.toml` declares both."""

from __future__ import annotations

from collections.abc import Iterator

from pegboard import PluginConfig, ToolError
from pegboard.plugin import CommandContext, Finding, Plugin


class GreetConfig(PluginConfig):
    """`[plugins.greet]`.

    Attributes:
        greeting: the word before the name.
    """

    greeting: str = "Hello"


class GreetPlugin(Plugin[GreetConfig]):
    """Enabled by `[plugins.greet]`."""

    Config = GreetConfig


def run(command: CommandContext) -> int:
    """Print the greeting."""
    name = command.options.name
    if not name.strip():
        raise ToolError("the name is empty: write a name, such as `pegboard greet Ada`")
    command.print(f"{command.settings.greeting}, {name}{'!' if command.options.loud else '.'}")
    return 0


def check(command: CommandContext) -> Iterator[Finding]:
    """Report a greeting that nobody sees."""
    if not command.settings.greeting.strip():
        yield Finding("warning", "the greeting is empty", "set greeting in [plugins.greet]")
