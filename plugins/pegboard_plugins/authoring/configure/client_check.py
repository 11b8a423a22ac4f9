"""The check of `pegboard doctor` for the files of clients."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pegboard.plugin import CommandContext, Finding
from pegboard_plugins.authoring.configure.clients import CLIENTS
from pegboard_plugins.authoring.configure.entry_file import EntryFile
from pegboard_plugins.authoring.configure.server_entry import from_client, starts_pegboard
from pegboard_plugins.support.edited_file import EditedFileError


def check_clients(command: CommandContext) -> Iterator[Finding]:
    """Report entries of clients that start pegboard by a command that does not exist."""
    for client in CLIENTS.values():
        for path in {client.user_file(), Path.cwd() / client.project_file if client.project_file else None}:
            if path is None or not path.is_file():
                continue
            try:
                entries = EntryFile(client, path).entries
            except EditedFileError as error:
                yield Finding("warning", f"{client.title}: {error}", source=client.source)
                continue
            for name, raw in entries.items():
                entry = from_client(raw if isinstance(raw, dict) else {})
                if starts_pegboard(entry) and shutil.which(entry.command[0]) is None:
                    program = f"{entry.command[0]}, which does not exist"
                    message = f"{client.title} starts the server {name!r} with {program} ({path})"
                    fix = f"write the entry again: pegboard configure {client.name} --name {name}"
                    yield Finding("error", message, fix, client.source)
