"""`pegboard configure CLIENT`, `configure remove` and `configure list`."""

from __future__ import annotations

import os
import shlex
import shutil
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard.plugin import CommandContext
from pegboard.terminal import clear_progress, nearest, print_json, print_lines, print_table, say, show_status
from pegboard_plugins.authoring.configure.answer_check import SLOW_SECONDS, Answer, answer_of
from pegboard_plugins.authoring.configure.clients import CLIENTS, PRINTED, McpClient
from pegboard_plugins.authoring.configure.entry_file import EntryFile, files_of
from pegboard_plugins.authoring.configure.files_root import say_left_out
from pegboard_plugins.authoring.configure.jsonc_edit import formatted
from pegboard_plugins.authoring.configure.server_entry import (
    EntryError,
    ServerEntry,
    default_name,
    entry_of,
    from_client,
    is_in_cache,
    starts_pegboard,
    to_client,
)
from pegboard_plugins.support.edited_file import EditedFileError, check_writable, replace
from pegboard_plugins.support.secret_files import is_readable_by_others


def run_configure(command: CommandContext) -> int:
    """Set the entry of this server in the file of a client. Then check that the server answers."""
    options = command.options
    client = CLIENTS[options.chosen]
    name, opened = default_name(options), _opened(client, options, adds=True)
    entry = entry_of(command)
    old = opened.entries.get(name)
    new = to_client(entry, client, old if isinstance(old, dict) else {})
    if is_in_cache(entry):
        say(f"{entry.command[0]} is in the cache of uv, and uv may delete it: install pegboard in an environment")
    text = opened.with_entry(name, new)
    changes = text != opened.file.text
    if changes:
        check_writable(opened.file, makes_folder=options.project)
    if changes and not options.dry_run:
        is_first = old is None or not opened.file.backup.exists()
        replace(opened.file, text, back_up=is_first, makes_folder=options.project)
    report = {
        "client": client.name,
        "name": name,
        "file": str(opened.file.path),
        "changed": changes and not options.dry_run,
        "difference": changed_lines(partial(opened.lines, name), old, new),
    }
    if not options.json:
        _print_change(client, opened, report, options)
    say_left_out(entry.command, options)
    _say_readable(opened.file.path, entry, options)
    if not (options.url or options.dry_run or options.no_check):
        command.connect_servers()  # so that the first start by the client lists their items at once
    return _check(from_client(new), report, options)


def run_print(command: CommandContext) -> int:
    """Print the entry, for clients that this command does not know."""
    name, server = default_name(command.options), entry_of(command)
    entry = to_client(server, PRINTED)
    # the values were given for this output
    print_lines(formatted({PRINTED.servers: {name: entry}}, "", "  ", "\n", own_line=True).splitlines())
    say_left_out(server.command, command.options)
    return 0


def run_remove(command: CommandContext) -> int:
    """Remove the entry from the file of a client. A file without other changes gets its old content back."""
    options = command.options
    client = CLIENTS.get(options.client)
    if client is None:
        close = nearest(options.client, CLIENTS)
        hint = f"; did you mean {close!r}?" if close else "; `pegboard configure --help` lists the clients"
        raise EntryError(f"there is no client {options.client!r}{hint}", close)
    named = options.entry or options.name
    if options.name not in (None, named):
        raise EntryError(f"there are two names, {options.entry!r} and {options.name!r}: leave out --name")
    opened = _opened(client, options, adds=False)
    name = _own_name(opened, named)
    about = {"client": client.name, "name": name or named, "file": str(opened.file.path)}
    if name is None:
        wanted = f"entry {named}" if named else "entry of pegboard"
        if options.json:
            print_json({**about, "changed": False})
        say(f"{opened.file.path} has no {wanted}: nothing to remove")
        return 0
    text = opened.without_entry(name)
    backup = opened.file.backup
    if not options.dry_run:
        replace(opened.file, text, back_up=not backup.exists())
        if backup.exists() and text in (None, backup.read_bytes().decode()):
            backup.unlink()
    if options.json:
        print_json({**about, "changed": not options.dry_run})
    else:
        verb = "would remove" if options.dry_run else "removed"
        print_lines([f"{verb} {name} from {opened.file.path}"])
    return 0


def run_entries(command: CommandContext) -> int:
    """List the servers in the files of all clients, and whether the command of each exists."""
    rows = [row for client in CLIENTS.values() for row in _rows(client)]
    if command.options.json:
        print_json(rows)
    elif rows:
        heading = ("CLIENT", "NAME", "SERVER", "STATE")
        print_table([heading, *([row[key.lower()] for key in heading] for row in rows)])
    else:
        say("no client has an entry: add one with `pegboard configure CLIENT`")
    return 0


# --- parts


def _opened(client: McpClient, options: Namespace, *, adds: bool) -> EntryFile:
    """Return the file of a client, which need not exist.

    Args:
        client: the client.
        options: the command line.
        adds: the command adds an entry, so the folder of the file must exist.

    Raises:
        EntryError: the client has no such file.
        EditedFileError: the client is not installed, or its file cannot be read.
    """
    if options.path:
        return EntryFile(client, options.path)
    if options.project:
        if not client.project_file:
            raise EntryError(f"{client.title} has no file for a project: leave out --project")
        return EntryFile(client, _in_project(client.project_file))
    path = client.user_file()
    if path is None:
        raise EntryError(f"{client.title} documents no file for this platform: name it with --path")
    if adds and not path.parent.is_dir():
        raise EditedFileError(
            f"the folder {path.parent} does not exist: start {client.title} once, or name its file with --path"
        )
    return EntryFile(client, path)


def _in_project(name: str) -> Path:
    """Return the path of a file of the project in the working directory.

    Raises:
        EditedFileError: a link leads out of the project. The author of the project could then change other files.
    """
    path = Path.cwd() / name
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(Path.cwd().resolve()):
        raise EditedFileError(f"{path} leads to {target}, outside of this project: name that file with --path")
    return path


def _print_change(client: McpClient, opened: EntryFile, report: dict[str, Any], options: Namespace) -> None:
    state = "would change" if options.dry_run else "changed" if report["changed"] else "is up to date"
    print_lines([f"{client.title}: {opened.file.path} {state}", *(f"  {line}" for line in report["difference"])])
    if report["changed"] and opened.file.text is not None:
        print_lines([f"  the old content is in {opened.file.backup}"])


def _say_readable(path: Path, entry: ServerEntry, options: Namespace) -> None:
    """Warn that other users can read a file that has secrets of the command line."""
    has_secrets = options.env or options.header or set("@?") & set(entry.url)
    if has_secrets and path.exists() and is_readable_by_others(path):
        say(f"other users can read {path}, which has the values that you gave: run chmod 600 {path}")


def _check(entry: ServerEntry, report: dict[str, Any], options: Namespace) -> int:
    """Report whether the server answers."""
    answer = None
    if not (options.no_check or options.dry_run):
        show_status(f"starting the server as {CLIENTS[options.chosen].title} does")
        try:
            answer = answer_of(entry)
        finally:
            clear_progress()
        if not options.json:
            print_lines(answer_lines(answer))
    if options.json:
        print_json({**report, "answer": answer and answer._asdict()})
    elif answer is not None and answer.problem:
        command = f"pegboard configure remove {report['client']} {shlex.quote(report['name'])}"
        print_lines([f"correct the server and run this command again, or remove the entry: {command}"])
    elif report["changed"] and answer is not None:
        print_lines([f"restart {CLIENTS[options.chosen].title} to use it"])
    return 1 if answer is not None and answer.problem else 0


def _own_name(opened: EntryFile, named: str | None) -> str | None:
    """Return the name of the entry to remove, or None if there is none.

    Raises:
        EntryError: the file has several entries of pegboard.
    """
    if named:
        return named if named in opened.entries else None
    own = [name for name, entry in opened.entries.items() if name == "pegboard" or starts_pegboard(from_client(entry))]
    if len(own) > 1:
        raise EntryError(f"several entries start pegboard: name one of them: {', '.join(sorted(own))}")
    return own[0] if own else None


def _rows(client: McpClient) -> Iterator[dict[str, str]]:
    for label, path, entries, problem in files_of(client):
        about = {"client": label, "file": str(path)}
        if problem:
            yield {**about, "name": "", "server": "", "state": problem}
        for name, raw in entries.items():
            yield {**about, "name": name, **_described(from_client(raw))}


def _described(entry: ServerEntry) -> dict[str, str]:
    """Return the address and the state of an entry, without arguments and queries, because they may contain secrets."""
    if entry.url:
        from pegboard_client import Endpoint

        return {"server": Endpoint(entry.url).label, "state": "a URL"}
    if not entry.command:
        return {"server": "", "state": "it has no command and no URL"}
    command = entry.command[0]
    is_there = shutil.which(command) is not None
    where = "" if Path(command).is_absolute() else " on the PATH of this shell"
    return {"server": command, "state": "ok" if is_there else f"the command does not exist{where}"}


# --- The output of `pegboard configure`: the changed lines, the answer of the server, and the table of entries.

MASKED = "***"
CHANGED = "*** (changed)"
MAX_SHOWN_ITEMS = 8


class CheckedServer(TypedDict):
    """The response of a server that was started as the client does. `problem` is "" if it serves."""

    problem: str
    server: str
    revision: str
    seconds: float
    items: dict[str, list[str]]
    stderr: list[str]


class ConfiguredClient(TypedDict):
    """The output of `pegboard configure CLIENT`. `answer` is None if the server was not checked."""

    client: str
    name: str
    file: str
    changed: bool
    difference: list[str]
    answer: CheckedServer | None


class RemovedEntry(TypedDict):
    """The output of `pegboard configure remove`."""

    client: str
    name: str | None
    file: str
    changed: bool


class ClientEntry(TypedDict):
    """A server in the file of an MCP client, of `pegboard configure list`."""

    client: str
    file: str
    name: str
    server: str
    state: str


ClientEntries = list[ClientEntry]
"""The output of `pegboard configure list`."""


def changed_lines(lines: Callable[[Mapping[str, Any]], list[str]], old: Any, new: Mapping[str, Any]) -> list[str]:
    """Return the difference between two entries as lines marked with - and +. Values that may be secrets are masked.

    The rest of the file is not shown, because it may contain secrets too.

    Args:
        lines: returns the lines of an entry.
        old: the old entry, or None if there is none.
        new: the new entry.
    """
    known = old if isinstance(old, dict) else {}
    before = lines(_masked(known, {})) if known else [] if old is None else [MASKED]
    heading = 3
    after = lines(_masked(new, known))
    return [f"{line[0]} {line[1:]}" for line in [*unified_diff(before, after, n=len(before), lineterm="")][heading:]]


def _masked(entry: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with masked values of variables and headers, and with masked credentials of URLs."""
    return {key: _shown(value, old.get(key)) for key, value in entry.items()}


def _shown(value: Any, old: Any) -> Any:
    if isinstance(value, dict):
        return _hidden(value, old)
    if not isinstance(value, str) or "://" not in value:
        return value
    mask = MASKED if old in (None, value) else CHANGED
    try:
        parts = urlsplit(value)
    except ValueError:
        return mask
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=(mask + at if user else "") + host, query=mask if parts.query else "").geturl()


def _hidden(values: Mapping[str, Any], old: Any) -> dict[str, str]:
    """Return variables or headers with masked values. A changed value gets a different mask."""
    known = old if isinstance(old, dict) else values
    return {key: MASKED if key not in known or known[key] == value else CHANGED for key, value in values.items()}


def answer_lines(answer: Answer) -> list[str]:
    """Return the report about a server for people."""
    if answer.problem:
        return [f"the server does not answer: {answer.problem}", *_stderr(answer)]
    counts = [_count(kind, names) for kind, names in answer.items.items() if names]
    lines = [
        f"the server answers in {answer.seconds:.1f} s: {answer.server}, MCP {answer.revision}",
        f"  it serves {'; '.join(counts)}" if counts else "  it serves no tools, resources or prompts",
    ]
    if answer.seconds > SLOW_SECONDS:
        lines.append(f"  some clients wait only {SLOW_SECONDS:g} s for a server to start")
    return [*lines, *_stderr(answer)]


def _count(kind: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_SHOWN_ITEMS]) + (", ..." if len(names) > MAX_SHOWN_ITEMS else "")
    return f"{len(names)} {kind if len(names) > 1 else kind.removesuffix('s')} ({shown})"


def _stderr(answer: Answer) -> list[str]:
    lines = [line for line in dict.fromkeys(answer.stderr) if line not in answer.problem]
    return ["  its standard error:", *(f"    {line}" for line in lines)] if lines else []
