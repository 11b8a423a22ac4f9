"""The process that listens on a port of this machine (Linux only), and messages about addresses in use."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard_plugins.transports.http.settings import HttpConfig

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


def cannot_open(config: HttpConfig, error: OSError) -> str:
    """Return the message about an address that cannot be opened."""
    where = str(config.socket or f"{config.host}:{config.port}")
    if error.errno != errno.EADDRINUSE:
        return f"http: cannot listen at {where}: {error.strerror or error}"
    owner = None if config.socket else owner_of_port(config.port)
    used = f"{owner} uses it" if owner else "it is in use"
    return f"http: cannot listen at {where}: {used}; choose another with {_option(config)}"


def _option(config: HttpConfig) -> str:
    return "--port, or [plugins.http] port" if config.socket is None else "[plugins.http] socket"
