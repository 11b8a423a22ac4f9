"""Arguments as `pegboard_plugin.toml` declares them, for argparse."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, _ArgumentGroup
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pegboard.loading.fact_models import Argument
from pegboard.messages.error_fields import failure_text
from pegboard.names import comma_separated

_READERS: Mapping[str, Callable[[str], Any]] = {
    "text": str,
    "integer": int,
    "path": Path,
    "names": comma_separated,
    "tool": str,
    "plugin": str,
}


def function_named(name: str) -> Any:
    """Import and return the function of a name such as `module:function`."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def destination(argument: Argument, plugin: str) -> str:
    """Return the name of an argument among the parsed options: the name, or the key of the configuration."""
    if argument.key is not None:
        return f"plugins.{plugin}.{argument.key}" if plugin else argument.key
    return argument.name.lstrip("-").replace("-", "_")


def add_arguments(parser: ArgumentParser, arguments: Iterable[tuple[str, Argument]], *, parsed: bool = False) -> None:
    """Add arguments to the parser of a command.

    Args:
        parser: the parser.
        arguments: the arguments, each with the plugin whose keys it sets; "" for keys with their table.
        parsed: True to leave the values of options with a function, which are parsed already.
    """
    groups: dict[str, ArgumentParser | _ArgumentGroup] = {"": parser}
    for plugin, argument in arguments:
        if argument.group not in groups:
            groups[argument.group] = parser.add_argument_group(argument.group)
        reading = _reading(argument, plugin)
        if parsed and argument.is_alternative:
            reading["default"] = SUPPRESS
        groups[argument.group].add_argument(*argument.aliases, argument.name, **reading)


def _reading(argument: Argument, plugin: str) -> dict[str, Any]:
    """Return the parameters of `add_argument`."""
    # argparse formats the help with %
    reading: dict[str, Any] = {"help": argument.help.replace("%", "%%"), "default": argument.default}
    if argument.name.startswith("-"):
        reading["dest"] = destination(argument, plugin)
    if argument.key is not None:
        table, _, key = reading["dest"].rpartition(".")
        reading["help"] += f" ([{table}] {key})"
    if argument.value is not None:
        is_flag = argument.value is True and argument.key is None
        return reading | {"action": "store_const", "const": argument.value} | ({"default": False} if is_flag else {})
    if argument.repeated:
        reading["action"] = "append"
        reading["default"] = None if argument.key is not None else []
    if argument.nargs is not None:
        reading["nargs"] = argument.nargs
    if argument.nargs in ("*", "+") or isinstance(argument.default, tuple):
        reading["default"] = list(argument.default if isinstance(argument.default, tuple) else ())
    return reading | {"metavar": argument.metavar, "type": _READERS.get(argument.type) or partial(_converted, argument)}


def _converted(argument: Argument, text: str) -> Any:
    """Convert a value with the function of a plugin.

    Raises:
        ArgumentTypeError: the value is invalid, or the function does not exist.
    """
    try:
        return function_named(argument.type)(text)
    except ArgumentTypeError:
        raise
    except Exception as error:
        raise ArgumentTypeError(f"{text!r} cannot be read: {failure_text(error)}") from error
