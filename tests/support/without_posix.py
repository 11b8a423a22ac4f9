"""Runs a script, or the command `pegboard`, as on Windows: without the modules and functions that only POSIX has.

python without_posix.py stdio --config hostconfig.toml
python without_posix.py script.py argument
"""

from __future__ import annotations

import asyncio
import os
import runpy
import select
import signal
import socket
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

COMMAND = (sys.executable, "-P", str(Path(__file__).resolve()))
"""The command that runs like this."""
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop")
NAMES: dict[Any, str] = {
    os: "fork killpg mkfifo set_blocking get_blocking fchmod fchown "
    "O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK",
    select: "poll epoll",
    signal: "SIGHUP SIGPIPE",
    socket: "AF_UNIX MSG_DONTWAIT SO_PEERCRED",
}
LOOP = ("add_reader", "add_signal_handler", "add_writer", "create_unix_server")


def remove() -> None:
    """Remove them from this process."""

    def missing(*_args: object, **_options: object) -> None:
        raise NotImplementedError

    if sys.platform != "win32":
        # asyncio needs `set_blocking` for the pipes of child processes; on Windows it has pipes of another kind
        vars(asyncio.unix_events)["os"] = SimpleNamespace(**vars(os))
    for module in MODULES:
        sys.modules[module] = None  # type: ignore[assignment]  # makes its import fail
    socket.socketpair = partial(socket.socketpair, socket.AF_UNIX)  # asyncio needs it
    for place, names in NAMES.items():
        for name in names.split():
            delattr(place, name)
    os.supports_dir_fd.clear()
    for name in LOOP:
        setattr(asyncio.SelectorEventLoop, name, missing)


if __name__ == "__main__":
    import subprocess  # noqa: F401 - it chooses its functions when it is imported
    import tempfile  # noqa: F401

    remove()
    if sys.argv[1].endswith(".py"):
        sys.argv = sys.argv[1:]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        from pegboard.cli import main

        sys.exit(main())
