"""The parser of the command line, with its help and its messages about errors."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, get_args

from pegboard.cli.parsing.argument_reading import add_arguments, destination
from pegboard.cli.parsing.declared_commands import (
    AddedOption,
    DeclaredCommand,
    added_options,
    host_commands,
    plugin_commands,
)
from pegboard.config import HostSection
from pegboard.errors import ConfigError
from pegboard.loading.discovery import provided
from pegboard.loading.fact_models import Argument, CommandFacts
from pegboard.names import comma_separated, nearest
from pegboard.plugin.commands import ArgumentDescription, CommandDescription
from pegboard.terminal.printing import UsageError, say

_Subparsers: TypeAlias = "argparse._SubParsersAction[_Parser]"

_EPILOG = """\
examples:
  pegboard demo                              see a client call the tools of a server
  pegboard dev server.py                     call the tools of a file at a prompt
  pegboard list                              list the tools
  pegboard call files_list path=. depth:=2   call a tool from the shell
  pegboard stdio                             serve an MCP client that starts this command
  pegboard why files_write                   explain why a tool is not served

exit codes: 0 success; 1 the tool or the operation failed; 2 invalid command line; 3 invalid configuration or plugin;
            5 a transport could not bind or connect; 130 Ctrl-C
"""
_HELP = ("-h", "--help")
_MOST_SUGGESTED = 2
"""The maximum number of suggested commands of groups."""
_REWORDED = (
    (r"^argument (\S+): invalid int value: ", r"\1 must be an integer, not "),
    (r"^argument (\S+): invalid float value: ", r"\1 must be a number, not "),
    (r"^argument (\S+): ignored explicit argument .*", r"\1 takes no value"),
    (r"^argument (\S+): expected one argument$", r"\1 requires a value"),
)
"""Messages of argparse as patterns, each with better words."""


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of a command line.

    `command` is the `DeclaredCommand`, or None without a command. `run` is the name of the function to run, and `needs`
    states what it needs.

    Args:
        argv: the command line; that of the process if None.

    Raises:
        UsageError: the command line is invalid.
        ConfigError: no such command is known, and the configuration that may add it is invalid or not trusted.
        SystemExit: the command line requests help.
    """
    options, rest = _shared_options().parse_known_args(argv)
    command = host_commands().get(rest[0]) if rest else None
    known: Sequence[DeclaredCommand] = ()
    if command is None:
        is_word = bool(rest) and (rest[0] in _HELP or not rest[0].startswith("-"))
        known = [*host_commands().values(), *_of_plugins(options, rest[0])] if is_word else []
        command = next((command for command in known if command.name == rest[0]), None)
    if command is None:
        parser = build_parser(known)
        return _known(parser, *parser.parse_known_args(rest, options))
    wants_help = bool(set(_HELP) & set(rest))
    parser, parsed, unknown = _parse_command(command, rest, options, options if wants_help else None)
    if unknown:  # perhaps options of third-party plugins
        parser, parsed, unknown = _parse_command(command, rest, options, options)
    return _known(parser, parsed, unknown)


def may_serve_stdio(words: Sequence[str]) -> bool:
    """Return True if a command line, which may be invalid, may start a server whose client reads stdout."""
    if "stdio" not in words:
        return False
    try:
        _, rest = _shared_options().parse_known_args(words)
    except UsageError:
        return True
    return rest[:1] in (["stdio"], ["serve"])


def _parse_command(
    command: DeclaredCommand, rest: Sequence[str], options: argparse.Namespace, naming: argparse.Namespace | None
) -> tuple[_Parser, argparse.Namespace, list[str]]:
    """Parse the arguments of a command. Making a parser for each command would take longer than the rest of parsing.

    Args:
        command: the command.
        rest: the command line without the options of all commands.
        options: the options of all commands.
        naming: the options that locate the configuration, which names third-party plugins; None to ignore these
            plugins.

    Returns:
        The parser, the parsed options, and the words that it does not know.
    """
    parser = build_parser([command], added_options(command.name, naming))
    alternatives = [option for option in parser.added if option.argument.is_alternative]
    options = argparse.Namespace(**vars(options))
    if alternatives and not set(_HELP) & set(rest):
        # options may be anywhere, so these are parsed first: argparse ends a list of arguments at an option
        reader = _Parser(prog=f"pegboard {command.name}", add_help=False, allow_abbrev=False)
        add_arguments(reader, alternatives)
        options, rest = reader.parse_known_args(rest, options)
    parsed, unknown = parser.parse_known_args(rest, options)
    for plugin, argument in alternatives:
        if getattr(parsed, destination(argument, plugin), None):
            parsed.run = argument.run
            parsed.needs = argument.needs
            parsed.command = command._replace(plugin=plugin)
    return parser, parsed, unknown


def _known(parser: _Parser, options: argparse.Namespace, unknown: Sequence[str]) -> argparse.Namespace:
    """Return the options. Refuse an unknown word, and a file in place of a tool."""
    parser = getattr(options, "parser", parser)
    if (file := str(vars(options).get("tool"))).endswith(".py"):
        words = [*vars(options).get("arguments", ()), *unknown]
        if words and not re.search("^-|=", words[0]):
            parser.refuse(file, words)
    if unknown and not parser.take(unknown, options):
        parser.refuse(unknown[0])
    return options


def _of_plugins(options: argparse.Namespace, word: str) -> Iterable[DeclaredCommand]:
    """Return the commands of plugins. With an invalid configuration, the help lists only the other commands."""
    try:
        return [command for command in plugin_commands(options).values() if _is_usable(command)]
    except ConfigError as error:
        if word not in _HELP:
            raise
        say(str(error))
        return ()


def _is_usable(command: DeclaredCommand) -> bool:
    """Return True if argparse accepts the arguments of a plugin's command. Otherwise print the reason."""
    try:
        build_parser([command])
    except (argparse.ArgumentError, TypeError, ValueError) as error:
        say(f"the command {command.name!r} of {command.origin} is left out: {error}")
        return False
    return True


class _Parser(argparse.ArgumentParser):
    """Reports errors in a line or two, with the nearest valid name.

    Attributes:
        added: the options that plugins have added.
    """

    def __init__(self, **options: Any) -> None:
        self.added: list[AddedOption] = []
        # argparse creates a formatter for each argument: the width of the terminal would delay the start
        super().__init__(formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80), **options)

    def format_help(self) -> str:
        """Return the help, as wide as the terminal."""
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def commands(self) -> Iterable[str]:
        """Return the names of the commands of a group."""
        return [name for action in self._actions if action.nargs == argparse.PARSER for name in action.choices or ()]

    def error(self, message: str, suggestion: str | None = None) -> NoReturn:
        if message.endswith("required: COMMAND"):
            message = f"name a command of `{self.prog}`: {', '.join(self.commands())}"
        for pattern, words in _REWORDED:
            message = re.sub(pattern, words, message)
        raise UsageError(message, suggestion, self.prog)

    def take(self, words: Sequence[str], options: argparse.Namespace) -> bool:
        """Add words to the command's list of arguments, which argparse ends at an option. Return False if it has none.

        Options are not taken.
        """
        listed = [action for action in self._actions if action.nargs == argparse.ZERO_OR_MORE]
        if not listed or any(word.startswith("-") for word in words):
            return False
        try:
            more = [self._get_value(listed[0], word) for word in words]
        except argparse.ArgumentError as error:
            self.error(str(error))
        setattr(options, listed[0].dest, [*getattr(options, listed[0].dest), *more])
        return True

    def refuse(self, text: str, following: Sequence[str] = ()) -> NoReturn:
        """Report an argument that the command does not accept, and exit. For a file, name the line that serves it."""
        if text.endswith(".py") and "--file" in self.option_strings():
            self.error(f"{text!r} is a file: write `{self.prog} {shlex.join(['--file', text, *following])}`")
        if not text.startswith("-"):
            self.error(f"{text!r} is an unexpected argument")
        if any(action.metavar == "key=value" for action in self._actions):
            key, _, value = text.lstrip("-").partition("=")
            self.error(f"unknown option {text!r}; write arguments of a tool without dashes: {key}={value or 'VALUE'}")
        names = {option.lstrip("-"): option for option in self._option_string_actions}  # dashes are similar to dashes
        close = names.get(nearest(text.partition("=")[0].lstrip("-"), names) or "")
        others = "; a plugin adds its options when it is enabled (`pegboard plugins`)"
        self.error(f"unknown option {text!r}{_hint(close) or others}", close)

    def option_strings(self) -> Iterable[str]:
        """Return the options of the command."""
        return self._option_string_actions

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            others = f"; write one of {', '.join(action.choices)}"
            if self.prog == "pegboard":
                self._refuse_disabled(value)
                in_groups = [
                    f"{name} {value}" for name, group in dict(action.choices).items() if value in group.commands()
                ]
                if 1 <= len(in_groups) <= _MOST_SUGGESTED:
                    meant = " or ".join(f"`pegboard {command}`" for command in in_groups)
                    self.error(f"there is no command {value!r}; did you mean {meant}?", in_groups[0])
                others = "; a plugin adds its commands when it is enabled (`pegboard plugins`)"
            close = nearest(value, action.choices)
            self.error(f"there is no command {value!r}{_hint(close) or others}", close)

    def _refuse_disabled(self, name: str) -> None:
        """Report a command of a built-in plugin that is not enabled, and exit."""
        if plugin := provided("commands").get(name):
            self.error(f"there is no command {name!r}: `pegboard enable {plugin}` enables the plugin that adds it")


def _hint(close: str | None) -> str:
    return f"; did you mean {close!r}?" if close else ""


def build_parser(commands: Iterable[DeclaredCommand], added: Iterable[AddedOption] = ()) -> _Parser:
    """Return a parser of these commands.

    Args:
        commands: the commands.
        added: options that are added to each command, unless another option has one of their names.
    """
    shared = _shared_options(defaults=False)
    parser = _Parser(
        prog="pegboard",
        description="Serve tools to MCP clients; every feature is a plugin, configured in hostconfig.toml.",
        epilog=_EPILOG,
        parents=[shared],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(run="", command=None)
    subparsers = _subparsers(parser, required=False)
    for command in commands:
        leaf = _add(subparsers, command, command.name, command.facts, shared)
        new: list[AddedOption] = []
        taken = set(leaf.option_strings())
        for option in added:
            names = {option.argument.name, *option.argument.aliases}
            if not names & taken:
                taken |= names
                new.append(option)
        parser.added += new
        add_arguments(leaf, new, parsed=True)
    return parser


def _subparsers(parser: _Parser, *, required: bool) -> _Subparsers:
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=required)


def _add(subparsers: _Subparsers, command: DeclaredCommand, name: str, facts: CommandFacts, shared: _Parser) -> _Parser:
    """Add a command, or a command of a group, and return its parser."""
    parser: _Parser = subparsers.add_parser(
        name,
        help=facts.summary.replace("%", "%%"),
        description=f"{facts.summary[0].upper()}{facts.summary[1:]}.",
        epilog="\n".join(["examples:", *(f"  {example}" for example in facts.examples)]) if facts.examples else None,
        parents=[shared],
        allow_abbrev=False,
    )
    add_arguments(parser, [(command.plugin, argument) for argument in facts.arguments])
    if facts.commands:
        below = _subparsers(parser, required=True)
        for each in facts.commands:
            _add(below, command, each, facts.command(each), shared)
    else:
        parser.set_defaults(run=facts.run, needs=facts.needs, command=command, chosen=name, parser=parser)
    return parser


def _shared_options(*, defaults: bool = True) -> _Parser:
    """Return a parser of the options of all commands. Without defaults, it can be a parent of other parsers."""
    shared = _Parser(
        prog="pegboard", add_help=False, allow_abbrev=False, argument_default=None if defaults else argparse.SUPPRESS
    )
    group = shared.add_argument_group("options, before or after the command")
    group.add_argument("--config", type=Path, metavar="FILE", help="read this file instead of hostconfig.toml")
    group.add_argument(
        "--only",
        type=comma_separated,
        action="extend",
        metavar="NAMES",
        help="serve these toolkits only: names, globs or distribution:name, separated by commas",
    )
    group.add_argument(
        "--file",
        type=Path,
        action="append",
        metavar="FILE",
        help="serve the toolkits of this Python file or folder, and installed toolkits only if they are named",
    )
    group.add_argument(
        "--strict", action="store_true", help="do not start if any plugin or toolkit fails, not only one that is named"
    )
    group.add_argument("--safe", action="store_true", help="run the default built-in plugins only")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument(
        "--log-level",
        dest="host.log_level",
        metavar="LEVEL",
        help="the least severe level that is logged ([host] log_level)",
    )
    group.add_argument("-v", "--verbose", action="count", help="log more to stderr; repeat it to log everything")
    if defaults:
        shared.set_defaults(only=[], file=[], strict=False, safe=False, json=False, verbose=0)
    return shared


# --- descriptions


def described_commands(commands: Iterable[DeclaredCommand]) -> CommandDescription:
    """Return the description of `pegboard` with these commands, and with the options that plugins add to them."""
    descriptions: dict[str, CommandDescription] = {}
    for command in commands:
        parser = build_parser([command], added_options(command.name))
        descriptions |= _described(parser, CommandFacts(commands={command.name: command.facts})).commands
    return _described(build_parser(()), CommandFacts())._replace(commands=descriptions)


def _described(parser: argparse.ArgumentParser, facts: CommandFacts) -> CommandDescription:
    declared = {argument.name: argument for argument in facts.arguments}
    arguments, below = [], {}
    for action in parser._actions:  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):
            below = {name: _described(subparser, facts.command(name)) for name, subparser in action.choices.items()}
        else:
            name = (action.option_strings or [action.dest])[-1]
            arguments.append(_described_argument(action, declared.get(name)))
    return CommandDescription(facts.summary, tuple(arguments), below)


def _described_argument(action: argparse.Action, argument: Argument | None) -> ArgumentDescription:
    of_key = get_args(HostSection.model_fields["log_level"].annotation) if action.dest == "host.log_level" else ()
    known = (argument.type, argument.completions) if argument else ("text", of_key)
    return ArgumentDescription(tuple(action.option_strings), action.help or "", action.nargs != 0, *known)
