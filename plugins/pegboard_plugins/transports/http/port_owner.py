"""The process that listens on a port of this machine (Linux only)."""

from __future__ import annotations

import os
from pathlib import Path

_LISTENING = "0A"


def owner_of_port(port: int) -> str | None:
    """Return the command and id of the process that listens on a TCP port, or None if it is not visible."""
    inodes = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in _listeners(Path("/proc/net") / table, port)}
    if not inodes:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(os.readlink(link) in inodes for link in (process / "fd").iterdir()):
                command = (process / "comm").read_text(errors="replace").strip()
                return f"{command} (process {process.name})"
        except OSError:
            continue
    return None


def _listeners(table: Path, port: int) -> list[str]:
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [row[9] for row in rows if row[3] == _LISTENING and int(row[1].rpartition(":")[2], 16) == port]
