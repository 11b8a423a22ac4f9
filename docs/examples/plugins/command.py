"""A command: `pegboard greet NAME` prints a greeting."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable

from pegboard import ToolError
from pegboard.plugin import Command, Plugin, hookimpl


def greeting(options: Namespace) -> str:
    """Return the text to print."""
    if not options.name.strip():
        raise ToolError("the name is empty: write a name, such as `pegboard greet Ada`")
    return f"Hello, {options.name}{'!' if options.loud else '.'}"


COMMAND = Command(
    name="greet",
    summary="print a greeting",
    run=greeting,
    arguments=[
        ("name", {"help": "the name of a person"}),
        ("--loud", {"action": "store_true", "help": "add an exclamation mark"}),
    ],
    examples=["pegboard greet Ada", "pegboard greet Ada --loud"],
)


class GreetPlugin(Plugin):
    """Enabled by `[plugins.greet]`."""

    @hookimpl
    def register_commands(self) -> Iterable[Command]:
        """Return the command."""
        return [COMMAND]
