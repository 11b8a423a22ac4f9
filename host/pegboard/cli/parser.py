"""The command line: commands, options, help and examples. Commands refer to their code by name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from pegboard.plugin.commands import Command

    Contributions = Callable[[argparse.Namespace], Iterable[Command]]

_EPILOG = """\
examples:
  pegboard list                              list the tools
  pegboard call files_list path=. depth:=2   call a tool from the shell
  pegboard stdio                             serve an MCP client that starts this command
  pegboard why files_write                   explain why a tool is not served

exit codes: 0 success; 1 the tool or the operation failed; 2 invalid command line; 3 invalid configuration or plugin;
            5 a transport could not bind or connect; 130 Ctrl-C
"""
FILES = (
    "paths",
    {
        "nargs": "*",
        "type": Path,
        "metavar": "FILE",
        "help": "serve the toolkits of this Python file, without installed ones",
    },
)
_HELP = ("-h", "--help")
_TOOL = (
    "tool",
    {"help": "the name of a tool, in any spelling; of another server also a prompt, or the URI of a resource"},
)


def _setting(option: str, key: str, metavar: str, meaning: str, **reading: Any) -> tuple[str, Mapping[str, Any]]:
    """Return an option that sets a key of the configuration. Its name among the parsed options is the key."""
    table, _, name = key.rpartition(".")
    return option, {"dest": key, "metavar": metavar, "help": f"{meaning} ([{table}] {name})", **reading}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


_LOG_LEVEL = _setting("--log-level", "host.log_level", "LEVEL", "the least severe level that is logged")
_FINISH = {
    "dest": "plugins.stdio.after_eof",
    "action": "store_const",
    "const": "finish",
    "help": "when the input ends, finish the calls in flight instead of cancelling them",
}


class CliCommand(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        name: the name on the command line.
        run: "module:function" below this package, or the command of a plugin; "" for a group.
        summary: a description in one line.
        examples: valid command lines.
        arguments: positional arguments and options, with the parameters of `add_argument`; or their name in
            `command_groups`.
        group: the name of a group's commands in `command_groups`, "" for a command.
        elsewhere: "module:function" for another MCP server (`--url`, `--stdio`); "" if the command has no such options.
    """

    name: str
    run: str | Command
    summary: str
    examples: Sequence[str]
    arguments: Sequence[tuple[str, Mapping[str, Any]]] | str = ()
    group: str = ""
    elsewhere: str = ""


_COMMANDS = (
    CliCommand(
        "stdio",
        "serve:run_stdio",
        "serve one MCP client over standard input and output",
        ("pegboard stdio", "pegboard stdio --only files", "pegboard stdio demo.py", "pegboard stdio --finish < calls"),
        (FILES, ("--finish", _FINISH), _LOG_LEVEL),
    ),
    CliCommand(
        "serve",
        "serve:run_serve",
        "serve over the transports in [host] transports",
        ("pegboard serve", "pegboard serve --config prod.toml", "pegboard serve demo.py --port 9000"),
        (
            FILES,
            _setting("--host", "plugins.http.host", "ADDRESS", "listen at this address"),
            _setting("--port", "plugins.http.port", "PORT", "listen at this port; 0 for any free port", type=int),
            _setting("--path", "plugins.mcp.path", "PATH", "the path of the MCP endpoint"),
            _setting("--transport", "host.transports", "NAMES", "run these transports", type=_names),
            _LOG_LEVEL,
        ),
    ),
    CliCommand(
        "demo",
        "demo_command:run_demo",
        "show a client that calls the tools of a server; needs no file",
        ("pegboard demo", "pegboard demo -v", "pegboard demo --code > shop.py"),
        (("--code", {"action": "store_true", "help": "print the code of the server"}),),
    ),
    CliCommand(
        "list",
        "listing:run_list",
        "list the tools",
        ("pegboard list", "pegboard list --only files --json", "pegboard list --url https://example.com/mcp"),
        elsewhere="other_server:list_server",
    ),
    CliCommand(
        "show",
        "listing:run_show",
        "show one tool: its description, parameters and result",
        (
            "pegboard show files_read",
            "pegboard show Files.Read --json",
            "pegboard show search --url https://example.com/mcp",
        ),
        (_TOOL,),
        elsewhere="other_server:show_item",
    ),
    CliCommand(
        "call",
        "call:run_call",
        "call one tool",
        (
            "pegboard call files_read path=README.md",
            "pegboard call files_list path=. depth:=2 --json",
            "pegboard call search query=cups --url https://example.com/mcp --login",
            "pegboard call notes://today --stdio some-server",
        ),
        (
            _TOOL,
            (
                "arguments",
                {
                    "nargs": "*",
                    "default": [],  # without it argparse requires one
                    "metavar": "key=value",
                    "help": "key=value for a string, key:=json for JSON",
                },
            ),
        ),
        elsewhere="other_server:call_item",
    ),
    CliCommand(
        "operator-token",
        "token_command:run_operator_token",
        "print the token by which `pegboard serve` recognizes its operator",
        ("pegboard operator-token", "pegboard operator-token --json"),
    ),
    CliCommand(
        "plugins",
        "listing:run_plugins",
        "list plugins and toolkits with their problems",
        ("pegboard plugins", "pegboard plugins --json"),
    ),
    CliCommand(
        "why",
        "why:run_why",
        "explain why a plugin, toolkit or tool is served or not",
        ("pegboard why files", "pegboard why files_write"),
        (("name", {"help": "a plugin, toolkit or tool, in any spelling"}),),
    ),
    CliCommand(
        "new",
        "new:run_new",
        "write a new toolkit, plugin or server, with tests",
        ("pegboard new toolkit weather", "pegboard new plugin acme --kind middleware", "pegboard new server notes"),
        "NEW",
    ),
    CliCommand(
        "enable", "edit_commands:run_enable", "enable a plugin or toolkit", ("pegboard enable cache",), "SWITCH"
    ),
    CliCommand(
        "disable", "edit_commands:run_disable", "disable a plugin or toolkit", ("pegboard disable cache",), "SWITCH"
    ),
    CliCommand(
        "config",
        "",
        "check, show or trust the configuration",
        ("pegboard config check", "pegboard config show", "pegboard config trust"),
        group="CONFIG",
    ),
    CliCommand(
        "configure",
        "",
        "add this server to an MCP client, such as Claude Code or Cursor",
        ("pegboard configure claude-code", "pegboard configure cursor server.py", "pegboard configure list"),
        group="CONFIGURE",
    ),
    CliCommand(
        "secret",
        "",
        "list, set and remove the secrets of tools",
        ("pegboard secret list", "pegboard secret set API_KEY", "pegboard secret unset API_KEY"),
        group="SECRET",
    ),
)


def parse(argv: Sequence[str] | None = None, contributed: Contributions | None = None) -> argparse.Namespace:
    """Return the options of a command line.

    `run` is the name of the command's function, or a plugin's command; "" without a command.

    Args:
        argv: the command line; that of the process if None.
        contributed: returns the commands of plugins for the options that all commands have. Called only if needed.

    Raises:
        SystemExit: the command line is invalid (2), or it requests help (0).
    """
    # options may be anywhere, so they are parsed first: argparse ends a list of arguments at an option
    options, rest = _shared_options().parse_known_args(argv)
    # making a parser for each command takes longer than the rest of parsing
    commands: Sequence[CliCommand] = [command for command in _COMMANDS if rest[:1] == [command.name]]
    if not commands:
        own = command_names()
        found = _found(contributed, options, rest) if contributed is not None and _wants_more(rest) else ()
        commands = [*_COMMANDS, *(_of_plugin(command) for command in found if command.name not in own)]
    parser = _build_parser(commands)
    elsewhere = commands[0].elsewhere if len(commands) == 1 else ""
    if elsewhere and not set(_HELP) & set(rest):
        options, rest = _server_options(header=[], login=False).parse_known_args(rest, options)
    options, unknown = parser.parse_known_args(rest, options)
    if unknown:
        parser.refuse(unknown[0], options)
    if elsewhere:
        from pegboard.cli.server_options import choose_server

        choose_server(parser, options, elsewhere)
    return options


def _wants_more(rest: Sequence[str]) -> bool:
    """Return True if the commands of plugins are needed: for an unknown command, or for the general help."""
    return bool(rest) and (not rest[0].startswith("-") or rest[0] in _HELP)


def _found(contributed: Contributions, options: argparse.Namespace, rest: Sequence[str]) -> Iterable[Command]:
    """Return the commands of plugins. With an invalid configuration, the help lists the host's commands only."""
    from pegboard.errors import ConfigError

    try:
        return contributed(options)
    except ConfigError as error:
        if rest[0] not in _HELP:
            raise
        from pegboard.cli.output import say

        say(str(error))
        return ()


def _of_plugin(command: Command) -> CliCommand:
    return CliCommand(command.name, command, command.summary, command.examples, command.arguments)


def command_names() -> set[str]:
    """Return the names of the host's commands."""
    return {command.name for command in _COMMANDS}


def help_text() -> str:
    """Return the output of `pegboard --help`."""
    return _build_parser().format_help()


class _Parser(argparse.ArgumentParser):
    """Reports errors in a line or two, with the nearest valid name."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"pegboard: {message}\npegboard: see `{self.prog} --help`\n")

    def refuse(self, text: str, options: argparse.Namespace) -> NoReturn:
        """Report an argument that the command does not accept, and exit."""
        if not text.startswith("-"):
            hint = f"; pass a file of tools with --file {text}" if text.endswith(".py") else ""
            self.error(f"{text!r} is an unexpected argument{hint}")
        if str(options.run).startswith("call:"):
            key, _, value = text.lstrip("-").partition("=")
            self.error(f"unknown option {text!r}; write arguments of a tool without dashes: {key}={value or 'VALUE'}")
        self.error(f"unknown option {text!r}{_hint(text, self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            others = f"; write one of {', '.join(action.choices)}"
            if self.prog == "pegboard":
                others = "; a plugin adds its commands when it is enabled (`pegboard plugins`)"
            self.error(f"there is no command {value!r}{_hint(value, action.choices) or others}")


def _hint(text: str, candidates: Any) -> str:
    from pegboard.names import nearest

    close = nearest(text.partition("=")[0], map(str, candidates))
    return f"; did you mean {close!r}?" if close else ""


def _build_parser(commands: Sequence[CliCommand] = _COMMANDS) -> _Parser:
    shared = _shared_options(defaults=False)
    parser = _Parser(
        prog="pegboard",
        description="Serve tools to MCP clients; every feature is a plugin, configured in hostconfig.toml.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(run="")
    _add(parser, commands, shared, required=False)
    return parser


def _add(parser: _Parser, commands: Sequence[CliCommand], shared: _Parser, *, required: bool) -> None:
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=required)
    for command in commands:
        own: _Parser = subparsers.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog="\n".join(["examples:", *(f"  {example}" for example in command.examples)])
            if command.examples
            else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[shared, *([_server_options()] if command.elsewhere else [])],
            allow_abbrev=False,
        )
        for name, reading in _arguments(command):
            own.add_argument(name, **reading)
        if command.group:
            from pegboard.cli import command_groups

            _add(own, getattr(command_groups, command.group), shared, required=True)
        else:
            own.set_defaults(run=command.run, chosen=command.name)


def _arguments(command: CliCommand) -> Sequence[tuple[str, Mapping[str, Any]]]:
    if not isinstance(command.arguments, str):
        return command.arguments
    from pegboard.cli import command_groups

    found: Sequence[tuple[str, Mapping[str, Any]]] = getattr(command_groups, command.arguments)
    return found


def _shared_options(*, defaults: bool = True) -> _Parser:
    """Return a parser of the options of all commands. Without defaults it is for the help of a command."""
    shared = _Parser(
        prog="pegboard", add_help=False, allow_abbrev=False, argument_default=None if defaults else argparse.SUPPRESS
    )
    group = shared.add_argument_group("options, before or after the command")
    group.add_argument("--config", type=Path, metavar="FILE", help="read this file instead of hostconfig.toml")
    group.add_argument(
        "--only",
        type=_names,
        action="extend",
        metavar="NAMES",
        help="serve these toolkits only: names, globs or distribution:name, separated by commas",
    )
    group.add_argument(
        "--file",
        type=Path,
        action="append",
        metavar="FILE",
        help="serve the toolkits of this Python file, and installed ones only if they are named",
    )
    group.add_argument("--strict", action="store_true", help="do not start if a plugin fails")
    group.add_argument("--safe", action="store_true", help="run the default built-in plugins only")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument("-v", "--verbose", action="count", help="log more to stderr; repeat it to log everything")
    if defaults:
        shared.set_defaults(only=[], file=[], strict=False, safe=False, json=False, verbose=0)
    return shared


def _server_options(**defaults: Any) -> _Parser:
    """Return a parser of the options for another MCP server. Without defaults it is for the help of a command."""
    parser = _Parser(
        prog="pegboard", add_help=False, allow_abbrev=False, argument_default=None if defaults else argparse.SUPPRESS
    )
    from pegboard.cli.server_options import add_server_options

    add_server_options(parser)
    parser.set_defaults(**defaults)
    return parser
