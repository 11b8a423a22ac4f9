"""The commands that `commands.toml` and the facts of plugins declare. No plugin is imported."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import tomli

from pegboard.cli.command_config import load_config
from pegboard.cli.parsing.argument_reading import destination
from pegboard.config import HostConfig
from pegboard.config.trust import refuse_untrusted
from pegboard.config.validation import load_pydantic_plugins
from pegboard.errors import ConfigError
from pegboard.loading.discovery import Selection, choose_plugins, find_plugins, provided
from pegboard.loading.fact_models import Argument, CheckFacts, CommandFacts, PluginFacts
from pegboard.loading.plugin_facts import OWN_DISTRIBUTION, facts_of, features_of_commands, own_facts
from pegboard.plugin.origin import Origin
from pegboard.terminal.printing import say


class DeclaredCommand(NamedTuple):
    """A command of pegboard or of a plugin.

    Attributes:
        name: the name on the command line.
        facts: the facts of the command.
        plugin: the name of its plugin, or "" for a command of the host.
        origin: the third-party plugin, or the enabled built-in plugin. None for other commands.
    """

    name: str
    facts: CommandFacts
    plugin: str = ""
    origin: Origin | None = None


class AddedOption(NamedTuple):
    """An option that a plugin adds to a command."""

    plugin: str
    argument: Argument


@cache
def host_tables() -> Mapping[str, CommandFacts]:
    """Return the tables of `commands.toml`."""
    load_pydantic_plugins()
    tables = tomli.loads(Path(__file__).parent.with_name("commands.toml").read_text("utf-8"))
    return {name: CommandFacts.model_validate(table) for name, table in tables.items()}


def declared_checks(facts: Mapping[str, CommandFacts], command: str) -> Sequence[CheckFacts]:
    """Return the checks of a command among the facts of the commands of the host or of a plugin."""
    return facts[command].checks if command in facts else ()


@cache
def host_commands() -> Mapping[str, DeclaredCommand]:
    """Return the commands that need no enabled plugin by name: of the host, and of features."""
    commands = {name: DeclaredCommand(name, facts) for name, facts in host_tables().items() if facts.is_own}
    for plugin, facts in own_facts().items():
        if plugin in features_of_commands():
            for name, command in facts.commands.items():
                if command.is_own:
                    commands[name] = DeclaredCommand(name, command, plugin)
                elif command.commands:
                    commands[name] = _with_commands(commands[name], command.commands)
    return dict(sorted(commands.items(), key=lambda command: command[1].facts.place))


def _with_commands(group: DeclaredCommand, added: Mapping[str, CommandFacts]) -> DeclaredCommand:
    """Return a group of the host with the commands that a feature adds."""
    return group._replace(facts=group.facts.model_copy(update={"commands": {**group.facts.commands, **added}}))


def plugin_commands(options: Namespace) -> Mapping[str, DeclaredCommand]:
    """Return the commands of enabled plugins by name.

    Args:
        options: the options of all commands.

    Raises:
        ConfigError: the configuration is invalid or not trusted.
    """
    commands = [command for origin in _enabled(load_config(options), options) for command in _commands_of(origin)]
    times = Counter(command.name for command in commands)
    for name in [name for name, count in times.items() if count > 1]:
        say(f"several plugins add a command {name!r}: disable all but one of them")
    return {command.name: command for command in commands if times[command.name] == 1}


def _commands_of(origin: Origin) -> Iterator[DeclaredCommand]:
    """Yield the commands that a plugin declares. Commands of pegboard and of built-in plugins cannot be replaced."""
    facts = facts_of(origin)
    own = [(name, command) for name, command in facts.commands.items() if command.is_own] if facts else []
    taken = host_commands().keys() | (() if origin.distribution == OWN_DISTRIBUTION else provided("commands").keys())
    for name, command in own:
        if name not in taken:
            yield DeclaredCommand(name, command, origin.name, origin)
        elif origin.distribution != OWN_DISTRIBUTION:
            say(f"the command {name!r} of {origin} is left out: pegboard has a command with this name; rename it")


def added_options(command: str, options: Namespace | None = None) -> Iterator[AddedOption]:
    """Yield the options that plugins add to a command of pegboard.

    Args:
        command: the name of the command.
        options: the options that all commands have, to include third-party plugins that are enabled. None for built-in
            plugins alone.
    """
    for plugin, facts in _facts_of_plugins(options).items():
        if command in facts.commands:
            yield from (AddedOption(plugin, argument) for argument in facts.commands[command].options)


def key_of_folders() -> str:
    """Return the key of the configuration that takes the folders of toolkits on the command line.

    Raises:
        ConfigError: no built-in plugin serves folders.
    """
    keys = (f"plugins.{plugin}.{facts.folders}" for plugin, facts in own_facts().items() if facts.folders)
    if (key := next(keys, None)) is None:
        raise ConfigError(["the plugin that serves folders is not installed: name a Python file"])
    return key


def names_packages(options: Namespace) -> bool:
    """Return True if an option names what is served without the installed toolkits."""
    command = getattr(options, "command", None)
    return command is not None and any(
        argument.alone and getattr(options, destination(argument, plugin), None)
        for plugin, argument in added_options(command.name)
    )


def _facts_of_plugins(options: Namespace | None) -> Mapping[str, PluginFacts]:
    """Return the facts of built-in plugins and of enabled third-party plugins. A file without trust is not used."""
    facts_by_name = dict(own_facts())
    if options is not None:
        try:
            config = load_config(options, collect=True, on_untrusted=refuse_untrusted)
        except ConfigError:  # the command reports it
            return facts_by_name
        for origin in _enabled(config, options):
            if origin.distribution != OWN_DISTRIBUTION and (facts := facts_of(origin)):
                facts_by_name[origin.name] = facts
    return facts_by_name


def _enabled(config: HostConfig, options: Namespace) -> list[Origin]:
    origins = [origin for origin in find_plugins().origins if origin.kind == "plugin"]
    choices = choose_plugins(origins, config, Selection(tuple(options.only), options.safe))
    return [choice.origin for choice in choices if choice.on]
