"""The command line: commands, options, their help and examples."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_EPILOG = """\
examples:
  pegboard list                              what tools there are
  pegboard call files_list path=. depth:=2   call one from the shell
  pegboard stdio                             serve an MCP client, which starts this itself
  pegboard why files_write                   why something is there, or is not

exit codes: 0 fine; 1 the tool or the operation failed; 2 usage; 3 the host cannot start as configured;
            5 a transport could not open its channel; 130 ended by Ctrl-C
"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; the code of a command is named, not imported."""
    shared = _shared_options()
    parser = argparse.ArgumentParser(
        prog="pegboard",
        description="Serve tools to MCP clients; every feature is a plugin, switched in hostconfig.toml.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared],
    )
    parser.add_argument("--version", action="version", version=_Version())  # type: ignore[arg-type]  # read when it is asked for
    parser.set_defaults(run=None, **_DEFAULTS)
    commands = _Commands(parser.add_subparsers(title="commands", metavar="COMMAND"), shared)

    commands.add(
        "stdio", "serve:run_stdio", "serve one MCP client over standard input and output", "pegboard stdio --only files"
    )
    commands.add(
        "serve",
        "serve:run_serve",
        "serve by the transports that [host] transports lists",
        "pegboard serve --config prod.toml",
    )
    commands.add("list", "look:run_list", "list the tools", "pegboard list --json")
    show = commands.add("show", "look:run_show", "show one tool: parameters, schemas", "pegboard show Files.Read")
    show.add_argument("tool", help="a tool's name, in any spelling")
    call = commands.add(
        "call",
        "call:run_call",
        "call one tool",
        "pegboard call files_read path=README.md",
        "pegboard call math_add a:=1 b:=2",
    )
    call.add_argument("tool", help="a tool's name, in any spelling")
    call.add_argument(
        "arguments", nargs="*", metavar="key=value", help="key=value for text, key:=json for anything else"
    )
    commands.add(
        "plugins", "look:run_plugins", "list plugins and toolkits, and what is wrong with them", "pegboard plugins"
    )
    why = commands.add("why", "why:run_why", "why a plugin, toolkit or tool is there or not", "pegboard why files")
    why.add_argument("name", help="a plugin, toolkit or tool")
    config = commands.add("config", None, "check or show the configuration", "pegboard config check")
    parts = _Commands(config.add_subparsers(title="commands", metavar="COMMAND", required=True), shared)
    parts.add(
        "check", "config:run_check", "say what is wrong, all of it at once", "pegboard config check --config prod.toml"
    )
    parts.add(
        "show",
        "config:run_show",
        "show the effective settings and where each comes from",
        "pegboard config show --json",
    )
    return parser


_DEFAULTS: dict[str, Any] = {"config": None, "only": [], "strict": False, "safe": False, "json": False, "verbose": 0}


def _shared_options() -> argparse.ArgumentParser:
    # without defaults of their own, so that an option before the command is not undone by its absence after it
    shared = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = shared.add_argument_group("options, before or after the command")
    group.add_argument("--config", type=Path, metavar="FILE", help="this file instead of hostconfig.toml")
    group.add_argument(
        "--only",
        type=_names,
        metavar="NAMES",
        help="these toolkits alone: names, globs or distribution:name, with commas",
    )
    group.add_argument("--strict", action="store_true", help="a plugin that fails keeps the host from starting")
    group.add_argument("--safe", action="store_true", help="the built-in plugins of the default set, and nothing else")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument("-v", "--verbose", action="count", help="log more to stderr; twice for everything")
    return shared


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class _Version:
    def __mod__(self, _: object) -> str:
        from pegboard.discovery import own_version

        return f"pegboard {own_version()}"

    def __contains__(self, _: object) -> bool:
        return False


class _Commands:
    def __init__(self, subparsers: Any, shared: argparse.ArgumentParser) -> None:
        self._subparsers = subparsers
        self._shared = shared

    def add(self, name: str, run: str | None, summary: str, *examples: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._subparsers.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog="examples:\n" + "\n".join(f"  {example}" for example in examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[self._shared],
        )
        if run is not None:
            parser.set_defaults(run=f"pegboard.cli.{run}")
        return parser
