"""The check of `pegboard doctor` for the files of clients."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from pegboard.plugin import CommandContext, Finding
from pegboard_plugins.authoring.configure.clients import CLIENTS
from pegboard_plugins.authoring.configure.entry_file import files_of
from pegboard_plugins.authoring.configure.server_entry import from_client, starts_pegboard


def check_clients(command: CommandContext) -> Iterator[Finding]:
    """Report entries of clients that start pegboard by a command that does not exist."""
    for client in CLIENTS.values():
        for _, path, entries, problem in files_of(client):
            if problem:
                yield Finding("warning", f"{client.title}: {problem}", source=client.source)
            for name, raw in entries.items():
                entry = from_client(raw)
                if starts_pegboard(entry) and shutil.which(entry.command[0]) is None:
                    program = f"{entry.command[0]}, which does not exist"
                    message = f"{client.title} starts the server {name!r} with {program} ({path})"
                    fix = f"write the entry again: pegboard configure {client.name} --name {name}"
                    yield Finding("error", message, fix, client.source)
