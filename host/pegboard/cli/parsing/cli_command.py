"""The declaration of a command, and the module that declares each command. It is imported when its command is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.records import NamedTuple

if TYPE_CHECKING:
    from pegboard.plugin.commands import Command

MODULE_OF_COMMAND = {
    "demo": "serving_arguments",
    "new": "new_arguments",
    "dev": "dev_arguments",
    "configure": "configure_arguments",
    "stdio": "serving_arguments",
    "serve": "serving_arguments",
    "list": "tool_arguments",
    "show": "tool_arguments",
    "call": "tool_arguments",
    "operator-token": "operator_arguments",
    "reload": "operator_arguments",
    "plugins": "plugin_arguments",
    "why": "plugin_arguments",
    "doctor": "diagnosis_arguments",
    "cost": "diagnosis_arguments",
    "completion": "diagnosis_arguments",
    "lock": "lock_arguments",
    "enable": "plugin_arguments",
    "disable": "plugin_arguments",
    "config": "config_arguments",
    "secret": "secret_arguments",
}
"""The names of the modules, in the order of the general help: commands that a newcomer uses come first."""

Argument = tuple[str, Mapping[str, Any]]
"""A positional argument or an option, with the parameters of `add_argument`."""

FILES = (
    "paths",
    {
        "nargs": "*",
        "type": Path,
        "metavar": "FILE",
        "help": "serve the toolkits of this Python file or folder, without installed ones",
    },
)


class CliCommand(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        name: the name on the command line.
        run: "module:function" below `pegboard.cli`, or the command of a plugin; "" for a group.
        summary: a description in one line.
        examples: valid command lines.
        arguments: positional arguments and options, with the parameters of `add_argument`.
        group: the commands of a group.
        elsewhere: "module:function" for another MCP server (`--url`, `--stdio`); "" if the command has no such options.
    """

    name: str
    run: str | Command
    summary: str
    examples: Sequence[str]
    arguments: Sequence[Argument] = ()
    group: Sequence[CliCommand] = ()
    elsewhere: str = ""


def setting(option: str, key: str, metavar: str, meaning: str, **reading: Any) -> Argument:
    """Return an option that sets a key of the configuration. Its name among the parsed options is the key."""
    table, _, name = key.rpartition(".")
    return option, {"dest": key, "metavar": metavar, "help": f"{meaning} ([{table}] {name})", **reading}


def comma_separated(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def declared(name: str) -> CliCommand:
    """Return the command of a name."""
    module = import_module(f"pegboard.cli.parsing.{MODULE_OF_COMMAND[name]}")
    commands: Sequence[CliCommand] = module.COMMANDS
    return next(command for command in commands if command.name == name)


def all_declared() -> list[CliCommand]:
    """Return all commands of the host."""
    return [declared(name) for name in MODULE_OF_COMMAND]
