"""The process group of a server in a child process: its signals, and its end together with the client."""

from __future__ import annotations

import os
import signal
import subprocess
from asyncio.subprocess import Process
from contextlib import suppress

GROUPS = hasattr(os, "killpg")
"""True if the system has process groups. Windows has none like those of POSIX."""

_GUARD = 'read -r _ || { sleep 1; kill -s KILL -- "-$1"; }'
"""A shell script that kills a process group one second after the client died, even if SIGKILL ended the client."""


class ProcessGroup:
    """The process group of a child process, which leads the group.

    A shell guards the group. It waits for the end of the client, and then kills the server and the server's children,
    even if the client was killed. On systems without process groups, only the process itself is ended.

    Args:
        process: the leader, started with `start_new_session`.

    Raises:
        OSError: the guard cannot be started.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._guard = _guard_of(process.pid) if GROUPS else None

    def terminate(self) -> None:
        """Send SIGTERM to the group."""
        _signal_group(self._process, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the group, and end its guard."""
        kill_group(self._process)
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard = None


def kill_group(process: Process) -> None:
    """Kill a process and its group."""
    _signal_group(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal_group(process: Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if GROUPS:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _guard_of(group: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the command is a constant and a number
        ("/bin/sh", "-c", _GUARD, "sh", str(group)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
    )
