"""The entry of this server: the command that starts it, or its URL, independent of any client."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pegboard.plugin import CommandContext
from pegboard.terminal import UsageError
from pegboard_plugins.authoring.configure.clients import CLIENTS, PRINTED, McpClient
from pegboard_plugins.authoring.configure.files_root import FILES, ROOTS, root_arguments

MAX_NAME_CHARACTERS = 64
_ADDRESSES = ("command", "args", "env", "type", *{client.url for client in CLIENTS.values()} - {""})
_HEADERS = tuple({client.headers for client in CLIENTS.values()})


class EntryError(UsageError):
    """The command line does not describe a valid entry."""


class ServerEntry(NamedTuple):
    """A server as a client reaches it.

    Attributes:
        command: the program and its arguments, with absolute paths; () for a server with a URL.
        env: the variables that the client sets for the program.
        url: the URL of a server over HTTP, or "" for a program.
        headers: the headers that the client sends to the URL.
    """

    command: tuple[str, ...] = ()
    env: Mapping[str, str] = MappingProxyType({})
    url: str = ""
    headers: Mapping[str, str] = MappingProxyType({})


def variable_argument(text: str) -> tuple[str, str]:
    """Return the name and the value of a variable on the command line."""
    name, equals, value = text.partition("=")
    if not name.isidentifier():
        raise ArgumentTypeError("write a variable as NAME=VALUE, or NAME")  # the value may be a secret
    if not equals and name not in os.environ:
        raise ArgumentTypeError(f"the variable {name} is not set: write {name}=VALUE")
    return name, value if equals else os.environ[name]


def entry_of(command: CommandContext) -> ServerEntry:
    """Return the entry that the command line describes.

    Raises:
        EntryError: options contradict each other, or a file does not exist.
        ConfigError: the configuration is invalid or not trusted.
    """
    options = command.options
    if options.url:
        if options.paths or options.file or options.only or options.config or options.env or options.root:
            raise EntryError(
                "a server with a URL has no files, folders, toolkits, configuration or variables: leave them out"
            )
        return ServerEntry(url=options.url, headers=dict(options.header or ()))
    if options.header:
        raise EntryError("headers are for a server with a URL: add --url")
    return ServerEntry((*own_command(), *_arguments(command)), dict(options.env or ()))


def default_name(options: Namespace) -> str:
    """Return the name of the entry: `--name`, else the name of the only file or toolkit, else "pegboard".

    Raises:
        EntryError: the name is invalid.
    """
    if options.name:
        if not re.fullmatch(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_CHARACTERS}}}", options.name):
            raise EntryError(f"{options.name!r} is not a valid name: use letters, digits, - and _")
        return str(options.name)
    candidates = [path.stem for path in (*options.paths, *options.file)] or options.only
    name = re.sub(r"[^A-Za-z0-9]+", "-", candidates[0]).strip("-") if len(candidates) == 1 else ""
    return name[:MAX_NAME_CHARACTERS] or "pegboard"


def own_command() -> tuple[str, ...]:
    """Return the command that starts pegboard in this environment, with an absolute path."""
    python = Path(sys.executable).absolute()  # a link to an interpreter selects the environment
    script = python.with_name("pegboard.exe" if sys.platform == "win32" else "pegboard")
    return (str(script),) if script.is_file() else (str(python), "-m", "pegboard")


def _arguments(command: CommandContext) -> list[str]:
    options = command.options
    files = [path.expanduser().absolute() for path in (*options.paths, *options.file)]
    if missing := [file for file in files if not file.is_file()]:
        raise EntryError(f"the file {missing[0]} does not exist: correct the path")
    plan = command.host_plan()
    needs_root = FILES in plan.enabled and plan.config.source(ROOTS).kind != "file"
    return [
        "stdio",
        *map(str, files),
        *(["--config", str(plan.config.file.absolute())] if plan.config.file else []),
        *(["--only", ",".join(options.only)] if options.only else []),
        *(["--strict"] if options.strict else []),
        *(["--safe"] if options.safe else []),
        *root_arguments(options, is_installed=FILES in plan.installed, needs_root=needs_root),
    ]


# --- in the format of a client


def to_client(entry: ServerEntry, client: McpClient, old: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Return an entry in the format of a client. Other members of the client's old entry are kept.

    Raises:
        EntryError: the client's file has no entries with URLs.
    """
    if entry.url and not client.url:
        raise EntryError(f"{client.title} reads only commands from this file: add the URL in its settings")
    kept = {name: value for name, value in old.items() if name not in (*_ADDRESSES, *_HEADERS)}
    if entry.url:
        headers = {**_mapping(old.get(client.headers)), **entry.headers}
        return {**client.http, client.url: entry.url, **({client.headers: headers} if headers else {}), **kept}
    env = {**_mapping(old.get("env")), **entry.env}
    command, *arguments = entry.command
    return {**client.stdio, "command": command, "args": arguments, **({"env": env} if env else {}), **kept}


def from_client(value: Any) -> ServerEntry:
    """Return the server that an entry of any client describes. Values of the wrong type count as absent."""
    entry = value if isinstance(value, dict) else {}
    url = next(
        (entry[client.url] for client in (*CLIENTS.values(), PRINTED) if isinstance(entry.get(client.url), str)), ""
    )
    headers = {key: value for name in _HEADERS for key, value in _mapping(entry.get(name)).items()}
    command, arguments = entry.get("command"), entry.get("args")
    if url or not isinstance(command, str):
        return ServerEntry(url=url, headers=headers)
    words = [argument for argument in arguments if isinstance(argument, str)] if isinstance(arguments, list) else []
    return ServerEntry((command, *words), _mapping(entry.get("env")))


def starts_pegboard(entry: ServerEntry) -> bool:
    """Return True if the command of an entry is pegboard."""
    return Path(entry.command[0] if entry.command else "").stem == "pegboard" or entry.command[1:3] == (
        "-m",
        "pegboard",
    )


def is_in_cache(entry: ServerEntry) -> bool:
    """Return True if the command is in the cache of uv, where `uvx` runs commands."""
    return any(part.startswith("archive-v") for part in Path(entry.command[0] if entry.command else "").parts)


def _mapping(value: Any) -> dict[str, str]:
    return {name: str(item) for name, item in value.items()} if isinstance(value, dict) else {}
