"""Writes docs/command-line.md and docs/environment.md: commands from the parser, and variables from the defaults."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from pegboard.cli.parsing.declared_commands import DeclaredCommand, added_options, host_commands
from pegboard.cli.parsing.parser import build_parser
from pegboard.config.files import CONFIG_VARIABLE
from pegboard.config.state import STATE_VARIABLE
from pegboard.loading.discovery import defaults
from pegboard.loading.plugin_facts import own_facts
from tools.screenshots import COMMANDS

_NOTE = "<!-- Written by `python -m tools.reference` from the code. -->\n"
_MANY_ROWS = 3
"""Rows of another command that become one row."""
_MANY_COMMANDS = 3
"""Commands of a group that have one section if their arguments are equal."""
_SERVER_TITLE = "options for another MCP server"
_WAITING = "`configure CLIENT`, `list`, `show`, `call`, `why`, `cost`, `doctor`, `lock` and `config trust`"
_COMMAND_LINE = f"""\
# Command line

{_NOTE}
Data goes to standard output, messages go to standard error. Every command has `--help`. `python -m pegboard`
is the same command.

## Exit codes

| code | meaning |
|---|---|
| 0 | success |
| 1 | the tool or the operation failed |
| 2 | the command line is invalid |
| 3 | the configuration or a plugin prevents the start |
| 5 | a transport could not bind or connect |
| 130 | Ctrl-C ended the command |
"""


def command_line_page() -> str:
    """Return the page of all commands, with those of built-in plugins."""
    of_plugins = [
        DeclaredCommand(name, command, plugin)
        for plugin, facts in own_facts().items()
        for name, command in facts.commands.items()
        if command.is_own and name not in host_commands()
    ]
    parsers = [
        (command.name, build_parser([command], added_options(command.name)))
        for command in (*host_commands().values(), *of_plugins)
    ]
    shared = [action for action in _group(parsers[0][1], "options, before") if action.option_strings]
    server = _group(_leaf(dict(parsers)["list"]), _SERVER_TITLE)
    waiting = [action for action in _leaf(dict(parsers)["list"])._actions if action.dest == "no_wait"]
    parts = [_COMMAND_LINE, "## Options of all commands\n", "They are valid before and after the command.\n"]
    parts += [*_table(shared), "\n## Options for another MCP server\n"]
    parts += ["`list`, `show` and `call` accept them after the command.\n", *_table(server)]
    parts += ["\n## Options for mounted servers\n", f"{_WAITING} accept it after the command.\n", *_table(waiting)]
    common = [*shared, *waiting]
    leaves = [leaf for _, parser in parsers for leaf in _leaves(parser)]
    described: dict[str, str] = {}
    for key, found in groupby(leaves, lambda leaf: (leaf.prog.rpartition(" ")[0], _arguments(leaf, common, server))):
        alike = list(found)
        verbs = {str(leaf.description).split()[0] for leaf in alike}
        is_one_section = " " in key[0] and len(alike) >= _MANY_COMMANDS and len(verbs) == 1
        for group in [alike] if is_one_section else [[leaf] for leaf in alike]:
            parts += _section(group)
            parts += _without_repeated(key[1], described)
            described |= {row: described.get(row, group[0].prog) for row in key[1]}
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _without_repeated(rows: Sequence[str], described: Mapping[str, str]) -> Iterator[str]:
    """Yield rows. Many rows that one other command has, too, become one row."""
    for program, found in groupby(rows, described.get):
        again = list(found)
        if program is not None and len(again) >= _MANY_ROWS:
            names = ", ".join(f"{row.partition('`: ')[0].removeprefix('- ')}`" for row in again)
            yield f"- {names}: as for `{program}`"
        else:
            yield from again


def _arguments(
    leaf: argparse.ArgumentParser, shared: Sequence[argparse.Action], server: Sequence[argparse.Action]
) -> tuple[str, ...]:
    """Return the list of the arguments that only this command has."""
    common = {action.dest for action in (*shared, *(server if _group(leaf, _SERVER_TITLE) else ()))} | {"help"}
    return tuple(_table([action for action in leaf._actions if action.dest not in common]))


def _leaf(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    return next(_leaves(parser))


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of each command, and of each command of a group."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for choice in group.choices.values():
            yield from _leaves(choice)


def _group(parser: argparse.ArgumentParser, title: str) -> list[argparse.Action]:
    groups = [group for group in parser._action_groups if (group.title or "").startswith(title)]
    return [action for group in groups for action in group._group_actions]


def _section(group: Sequence[argparse.ArgumentParser]) -> Iterator[str]:
    """Yield the heading, the description and the examples of commands with equal arguments."""
    first = group[0]
    yield f"\n## {_title(group)}\n"
    yield _together([str(parser.description) for parser in group]) + "\n"
    examples = max(([line.strip() for line in (one.epilog or "").splitlines()[1:]] for one in group), key=len)
    examples = [line for line in examples if line.removesuffix(" --json") not in [one.prog for one in group]]
    if examples:
        yield "\n".join(["```text", *examples, "```", ""])
    name = f"terminal-{'-'.join(first.prog.split()[1:])}"
    if name in COMMANDS:
        yield f"![The output of {COMMANDS[name]}](images/{name}.svg)\n"


def _title(group: Sequence[argparse.ArgumentParser]) -> str:
    names = "|".join(parser.prog.rpartition(" ")[2] for parser in group)
    return f"{group[0].prog.rpartition(' ')[0]} {names}"


def _together(texts: Sequence[str]) -> str:
    """Return descriptions that begin alike as one sentence."""
    words = zip(*(text.split()[:-1] for text in texts), strict=False)
    start = "".join(f"{found[0]} " for found in takewhile(lambda found: len(set(found)) == 1, words))
    return start + ", ".join(text.removeprefix(start).removesuffix(".") for text in texts) + "."


def _table(actions: list[argparse.Action]) -> Iterator[str]:
    for action in actions:
        value = action.metavar if isinstance(action.metavar, str) else action.dest
        spelling = ", ".join(action.option_strings)
        shown = (
            f"{spelling} {value if action.metavar else value.upper()}" if spelling and action.nargs != 0 else spelling
        )
        yield f"- `{shown or value}`: {action.help or ''}"


class _Variable(NamedTuple):
    """An environment variable, and its effect."""

    name: str
    meaning: str


_OWN = (
    _Variable(CONFIG_VARIABLE, "the configuration file, unless `--config` names one"),
    _Variable(STATE_VARIABLE, "the state directory: the operator token, trusted files, logins of the client"),
    _Variable("PEGBOARD__HOST__KEY", "sets a key of `[host]`, such as `PEGBOARD__HOST__NAME=tools`"),
    _Variable(
        "PEGBOARD__TOOLKITS__NAME__KEY", "sets a key of a toolkit, such as `PEGBOARD__TOOLKITS__FILES__WRITE=true`"
    ),
    _Variable("PEGBOARD__PLUGINS__NAME__KEY", "sets a key of a plugin, such as `PEGBOARD__PLUGINS__HTTP__PORT=9000`"),
    _Variable("NAME_FILE", "the path of a file with the secret `NAME` ([secrets](secrets.md))"),
)
_OTHERS = (
    _Variable("XDG_CONFIG_HOME", "the folder of `pegboard/hostconfig.toml`; `~/.config` by default"),
    _Variable("XDG_STATE_HOME", "the folder of the state directory; `~/.local/state` by default"),
    _Variable("HOME", "the home directory"),
    _Variable("TERM", "`dumb` replaces progress bars by lines"),
    _Variable("APPDATA", "the folder of Claude Desktop and other clients on Windows, for `pegboard configure`"),
    _Variable("CODEX_HOME", "the folder of Codex, for `pegboard configure`"),
    _Variable("PYTHONPATH", "its folders are searched for modules, also by mounted servers and other child processes"),
    _Variable("LISTEN_FDS", "the number of sockets that the service manager passes to `pegboard serve`"),
    _Variable("LISTEN_PID", "the process that these sockets are for"),
    _Variable("NOTIFY_SOCKET", "the socket at which the service manager reads the state of the service"),
    _Variable("WATCHDOG_USEC", "the interval in microseconds in which the service manager expects a sign of life"),
    _Variable("WATCHDOG_PID", "the process that the interval is for"),
)
_ENVIRONMENT = f"""\
# Environment variables

{_NOTE}
Variables override the [configuration file](configuration.md), and the command line overrides both. An empty variable
counts as unset.
"""


_KINDS = (
    ("values", ""),
    ("literals", ", as TOML"),
    ("secrets", ", a secret"),
    ("choices", "; values separated by commas"),
    ("lists", "; values separated by commas are added"),
)


def environment_page() -> str:
    """Return the page of environment variables."""
    parts = [_ENVIRONMENT, *_variables("pegboard", _OWN)]
    table = defaults()["environment"]
    declared = [
        _Variable(name, f"sets {_key(table[kind][name])}{more}") for kind, more in _KINDS for name in table[kind]
    ]
    declared += [_Variable(name, f"no effect: set `{setting}`") for name, setting in table["renamed"].items()]
    declared += [
        _Variable(name, f"read by `[plugins.{plugin}]`, if enabled") for name, plugin in table["of_plugins"].items()
    ]
    declared += [_Variable(name, f"no effect: {reason}") for name, reason in table["unused"].items()]
    parts += _variables("Variables of other systems", sorted(declared))
    parts.append(_IGNORED)
    parts += _variables("Other variables", _OTHERS)
    return "\n".join(parts).rstrip() + "\n"


def _key(dotted: str) -> str:
    table, _, key = dotted.rpartition(".")
    return f"`[{table}] {key}`"


_IGNORED = """\
A variable without effect causes a warning when a server starts and in `pegboard config check`. So does a misspelled
name, such as `MCP_SERVER_NAM` or `PEGBOARD_HOST_NAME`. Variables of other programs, such as `MCP_TIMEOUT`, cause none.
"""


def _variables(title: str, variables: Iterable[_Variable]) -> Iterator[str]:
    yield f"## {title}\n"
    for variable in variables:
        yield f"- `{variable.name}`: {variable.meaning}"
    yield ""
