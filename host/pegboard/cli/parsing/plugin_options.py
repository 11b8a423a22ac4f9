"""Options that plugins add to commands, as `pegboard_plugin.toml` states them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pegboard.cli.parsing.cli_command import Argument, comma_separated
from pegboard.config import HostConfig
from pegboard.errors import ConfigError
from pegboard.loading.discovery import defaults, named_facts
from pegboard.loading.plugin_facts import CommandOption, PluginFacts, own_facts

_TYPES: Mapping[str, Any] = {"text": str, "integer": int, "names": comma_separated}


def added_options(options: Namespace | None = None) -> Callable[[str], Iterator[Argument]]:
    """Return a function that yields the options which plugins add to a command.

    Args:
        options: the options that all commands have, to include third-party plugins that the configuration names. None
            for built-in plugins alone.
    """
    facts = own_facts() if options is None else _named(options)

    def added(command: str) -> Iterator[Argument]:
        for plugin, of_plugin in facts.items():
            if command in of_plugin.commands:
                for option in of_plugin.commands[command].options:
                    yield _argument(plugin, option)

    return added


def _named(options: Namespace) -> Mapping[str, PluginFacts]:
    try:
        return named_facts(HostConfig.load(options.config, environ=os.environ, defaults=defaults(), collect=True))
    except ConfigError:  # the command reports it
        return own_facts()


def _argument(plugin: str, option: CommandOption) -> Argument:
    reading: dict[str, Any] = {"metavar": option.metavar, "type": _TYPES[option.type]}
    if option.value is not None:
        reading = {"action": "store_const", "const": option.value}
    meaning = f"{option.help} ([plugins.{plugin}] {option.key})"
    return option.name, {"dest": f"plugins.{plugin}.{option.key}", "help": meaning, **reading}
