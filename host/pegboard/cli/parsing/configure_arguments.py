"""`configure` and its commands."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pegboard.cli.configure.clients import CLIENTS, PRINTED
from pegboard.cli.parsing.cli_command import FILES, CliCommand
from pegboard.cli.parsing.server_options import header_argument, url_argument


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.isidentifier():
        raise argparse.ArgumentTypeError("write a variable as NAME=VALUE, or NAME")  # the value may be a secret
    if not equals and name not in os.environ:
        raise argparse.ArgumentTypeError(f"the variable {name} is not set: write {name}=VALUE")
    return name, value if equals else os.environ[name]


_MODULE = "configure.configure_commands"
_ENTRY_NAME = (
    "--name",
    {"metavar": "NAME", "help": 'the name of the entry; by default the name of the file, or "pegboard"'},
)
_ENTRY = (
    "entry",
    {"nargs": "?", "metavar": "NAME", "help": "the name of the entry; by default the only one that starts pegboard"},
)
_SERVER = (
    FILES,
    _ENTRY_NAME,
    (
        "--root",
        {
            "action": "append",
            "metavar": "FOLDER",
            "help": "the tools for files work in this folder; it may be repeated",
        },
    ),
    (
        "--env",
        {
            "type": _variable,
            "action": "append",
            "metavar": "NAME[=VALUE]",
            "help": "a variable that the client sets for the server; without a value, the value in this shell",
        },
    ),
    ("--url", {"type": url_argument, "metavar": "URL", "help": "connect to a server at this URL instead of a command"}),
    (
        "--header",
        {
            "type": header_argument,
            "action": "append",
            "metavar": "'NAME: VALUE'",
            "help": "a header that the client sends to the URL; it may be repeated",
        },
    ),
)
_PLACE = (
    ("--path", {"type": Path, "metavar": "FILE", "help": "change this file of the client"}),
    (
        "--project",
        {"action": "store_true", "help": "change the client's file for the project in the working directory"},
    ),
    ("--dry-run", {"action": "store_true", "help": "only show the difference"}),
)
_NO_CHECK = ("--no-check", {"action": "store_true", "help": "do not start the server afterwards"})

_GROUP = (
    *(
        CliCommand(
            client.name,
            f"{_MODULE}:run_configure",
            f"add the server to {client.title}",
            (
                f"pegboard configure {client.name}",
                f"pegboard configure {client.name} server.py --env API_KEY",
                *([f"pegboard configure {client.name} --url http://127.0.0.1:8000/mcp"] if client.url else []),
            ),
            (*_SERVER, *_PLACE, _NO_CHECK),
        )
        for client in CLIENTS.values()
    ),
    CliCommand(
        PRINTED.name,
        f"{_MODULE}:run_print",
        f"print the entry for {PRINTED.title}",
        ("pegboard configure json", "pegboard configure json server.py --name demo"),
        _SERVER,
    ),
    CliCommand(
        "list",
        f"{_MODULE}:run_entries",
        "list the servers in the files of all clients",
        ("pegboard configure list", "pegboard configure list --json"),
    ),
    CliCommand(
        "remove",
        f"{_MODULE}:run_remove",
        "remove the server from a client",
        ("pegboard configure remove cursor", "pegboard configure remove cursor server --dry-run"),
        (("client", {"metavar": "CLIENT", "help": "a client, such as cursor"}), _ENTRY, _ENTRY_NAME, *_PLACE),
    ),
)

COMMANDS = (
    CliCommand(
        "configure",
        "",
        "add this server to an MCP client, such as Claude Code or Cursor",
        ("pegboard configure claude-code", "pegboard configure cursor server.py", "pegboard configure list"),
        group=_GROUP,
    ),
)
