"""The parser of the command line, with its help and its messages about errors."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pegboard.cli.parsing.cli_command import (
    MODULE_OF_COMMAND,
    Argument,
    CliCommand,
    all_declared,
    comma_separated,
    declared,
    setting,
)

if TYPE_CHECKING:
    from pegboard.plugin.commands import Command

    Added = Callable[[str], Iterable[Argument]]
    Contributions = Callable[[argparse.Namespace, str], Iterable[Command]]

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
_REWORDED = (
    (r"^argument (\S+): invalid int value: ", r"\1 must be an integer, not "),
    (r"^argument (\S+): invalid float value: ", r"\1 must be a number, not "),
    (r"^argument (\S+): ignored explicit argument .*", r"\1 takes no value"),
    (r"^argument (\S+): expected one argument$", r"\1 requires a value"),
)
"""Messages of argparse as patterns, each with better words."""


def parse(argv: Sequence[str] | None = None, contributed: Contributions | None = None) -> argparse.Namespace:
    """Return the options of a command line.

    `run` is the name of the command's function, or a plugin's command; "" without a command.

    Args:
        argv: the command line; that of the process if None.
        contributed: returns the commands of plugins for the options that all commands have and the first word. Called
            only if needed.

    Raises:
        UsageError: the command line is invalid.
        SystemExit: it requests help.
    """
    # options may be anywhere, so they are parsed first: argparse ends a list of arguments at an option
    options, rest = _shared_options().parse_known_args(argv)
    # making a parser for each command takes longer than the rest of parsing
    commands: Sequence[CliCommand]
    if rest and rest[0] in MODULE_OF_COMMAND:
        commands = [declared(rest[0])]
    else:
        found = _found(contributed, options, rest) if contributed is not None and _wants_more(rest) else ()
        added = [of_plugin(command) for command in found if command.name not in MODULE_OF_COMMAND]
        commands = [*all_declared(), *added]
    plugin_options = _added(options, named=bool(set(_HELP) & set(rest))) if len(commands) == 1 else None
    parser = build_parser(commands, plugin_options)
    elsewhere = commands[0].elsewhere if len(commands) == 1 else ""
    if elsewhere and not set(_HELP) & set(rest):
        of_server = server_options(header=[], login=False)
        of_server.prog = f"pegboard {rest[0]}"
        options, rest = of_server.parse_known_args(rest, options)
    parsed, unknown = parser.parse_known_args(rest, argparse.Namespace(**vars(options)))
    if unknown and plugin_options:
        parser = build_parser(commands, _added(options, named=True))
        parsed, unknown = parser.parse_known_args(rest, options)
    options = parsed
    if unknown:
        getattr(options, "parser", parser).refuse(unknown[0], options)
    if elsewhere:
        from pegboard.cli.parsing.server_options import choose_server

        choose_server(parser, options, elsewhere)
    return options


def _added(options: argparse.Namespace, *, named: bool) -> Added:
    from pegboard.cli.parsing.plugin_options import added_options

    return added_options(options if named else None)


def _wants_more(rest: Sequence[str]) -> bool:
    """Return True if the commands of plugins are needed: for an unknown command, or for the general help."""
    return bool(rest) and (not rest[0].startswith("-") or rest[0] in _HELP)


def _found(contributed: Contributions, options: argparse.Namespace, rest: Sequence[str]) -> Iterable[Command]:
    """Return the commands of plugins. With an invalid configuration, the help lists the host's commands only."""
    from pegboard.errors import ConfigError

    try:
        return contributed(options, rest[0])
    except ConfigError as error:
        if rest[0] not in _HELP:
            raise
        from pegboard.cli.output import say

        say(str(error))
        return ()


def of_plugin(command: Command) -> CliCommand:
    """Return a command of a plugin as one of the command line."""
    return CliCommand(command.name, command, command.summary, command.examples, command.arguments)


class _Parser(argparse.ArgumentParser):
    """Reports errors in a line or two, with the nearest valid name."""

    def __init__(self, **options: Any) -> None:
        # argparse creates a formatter for each argument: the width of the terminal would delay the start
        super().__init__(formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80), **options)

    def format_help(self) -> str:
        """Return the help, as wide as the terminal."""
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def error(self, message: str, suggestion: str | None = None) -> NoReturn:
        from pegboard.cli.command_failures import UsageError

        if message.endswith("required: COMMAND"):
            commands = (name for one in self._actions if one.nargs == argparse.PARSER for name in one.choices or ())
            message = f"name a command of `{self.prog}`: {', '.join(commands)}"
        for pattern, words in _REWORDED:
            message = re.sub(pattern, words, message)
        raise UsageError(message, suggestion, self.prog)

    def refuse(self, text: str, options: argparse.Namespace) -> NoReturn:
        """Report an argument that the command does not accept, and exit."""
        if not text.startswith("-"):
            hint = f"; pass a file of tools with --file {text}" if text.endswith(".py") else ""
            self.error(f"{text!r} is an unexpected argument{hint}")
        if str(options.run).startswith("commands.call:"):
            key, _, value = text.lstrip("-").partition("=")
            self.error(f"unknown option {text!r}; write arguments of a tool without dashes: {key}={value or 'VALUE'}")
        close = _nearest(text, self._option_string_actions)
        self.error(f"unknown option {text!r}{_hint(close)}", close)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            others = f"; write one of {', '.join(action.choices)}"
            if self.prog == "pegboard":
                self._refuse_disabled(value)
                others = "; a plugin adds its commands when it is enabled (`pegboard plugins`)"
            close = _nearest(value, action.choices)
            self.error(f"there is no command {value!r}{_hint(close) or others}", close)

    def _refuse_disabled(self, name: str) -> None:
        """Report a command of a built-in plugin that is not enabled, and exit."""
        from pegboard.loading.discovery import provided

        if plugin := provided("commands").get(name):
            self.error(f"there is no command {name!r}: `pegboard enable {plugin}` enables the plugin that adds it")


def _nearest(text: str, candidates: Any) -> str | None:
    from pegboard.names import nearest

    return nearest(text.partition("=")[0], map(str, candidates))


def _hint(close: str | None) -> str:
    return f"; did you mean {close!r}?" if close else ""


def build_parser(commands: Sequence[CliCommand], added: Added | None = None) -> _Parser:
    """Return the parser of these commands.

    Args:
        commands: the commands.
        added: returns the options that plugins add to a command.
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
    parser.set_defaults(run="")
    _add(parser, commands, shared, added, required=False)
    return parser


def _add(
    parser: _Parser,
    commands: Sequence[CliCommand],
    shared: _Parser,
    added: Added | None,
    *,
    required: bool,
) -> None:
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=required)
    for command in commands:
        own: _Parser = subparsers.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog="\n".join(["examples:", *(f"  {example}" for example in command.examples)])
            if command.examples
            else None,
            parents=[shared, *([server_options()] if command.elsewhere else [])],
            allow_abbrev=False,
        )
        arguments = dict(command.arguments)
        for name, reading in added(command.name) if added else ():
            arguments.setdefault(name, reading)
        for name, reading in arguments.items():
            own.add_argument(name, **reading)
        if command.group:
            _add(own, command.group, shared, None, required=True)
        else:
            own.set_defaults(run=command.run, chosen=command.name, parser=own)


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
        help="serve the toolkits of this Python file or folder, and installed ones only if they are named",
    )
    group.add_argument("--strict", action="store_true", help="do not start if a plugin fails")
    group.add_argument("--safe", action="store_true", help="run the default built-in plugins only")
    group.add_argument("--json", action="store_true", help="print JSON")
    level, reading = setting("--log-level", "host.log_level", "LEVEL", "the least severe level that is logged")
    group.add_argument(level, **reading)
    group.add_argument("-v", "--verbose", action="count", help="log more to stderr; repeat it to log everything")
    if defaults:
        shared.set_defaults(only=[], file=[], strict=False, safe=False, json=False, verbose=0)
    return shared


def server_options(**defaults: Any) -> _Parser:
    """Return a parser of the options for another MCP server. Without defaults, it can be a parent of other parsers."""
    parser = _Parser(
        prog="pegboard", add_help=False, allow_abbrev=False, argument_default=None if defaults else argparse.SUPPRESS
    )
    from pegboard.cli.parsing.server_options import add_server_options

    add_server_options(parser)
    parser.set_defaults(**defaults)
    return parser
