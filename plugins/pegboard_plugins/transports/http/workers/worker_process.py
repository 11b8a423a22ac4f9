"""One process that serves: its start, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from pegboard_plugins.transports.http.passed_sockets import FIRST_DESCRIPTOR


class WorkerProcess:
    """A process that executes the command line of this process, and serves at given sockets.

    Args:
        number: the number of the worker.
        environ: its environment variables, without those that contain its process id.
        descriptors: the sockets at which it listens, in ascending order.
        alive: the reading end of a pipe that ends with this process, for its standard input.

    Attributes:
        number: the number of the worker.
        pid: its process id.
        ready: set by each report that it is ready, after the start and after each reload; and by its end.
        ended: set by its end.
        code: its exit code; the negative number of the signal that has ended it.
    """

    def __init__(self, number: int, environ: dict[str, str], descriptors: Sequence[int], alive: int) -> None:
        self.number = number
        self.ready = asyncio.Event()
        self.ended = asyncio.Event()
        self.code = 0
        self.pid = os.fork()
        if self.pid == 0:
            with suppress(BaseException):
                _execute(environ, descriptors, alive)
            os._exit(1)

    def send(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        if not self.ended.is_set():
            os.kill(self.pid, number)

    def reap(self) -> bool:
        """Return True if the process has ended. Call it until then."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.code = os.waitstatus_to_exitcode(status)
            self.ended.set()
            self.ready.set()
        return pid != 0

    async def is_ready(self, seconds: float | None = None) -> bool:
        """Wait for the next report that it is ready. Return False if it ends before, or after some seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.ready.wait()
        return self.ready.is_set() and not self.ended.is_set()


def _execute(environ: dict[str, str], descriptors: Sequence[int], alive: int) -> NoReturn:
    """Execute the command line of this process in a process group of its own, which Ctrl-C does not reach."""
    signal.set_wakeup_fd(-1)  # it is that of the event loop of this process
    os.setpgid(0, 0)
    os.dup2(alive, 0)
    for target, descriptor in enumerate(descriptors, FIRST_DESCRIPTOR):
        os.dup2(descriptor, target)  # in ascending order, so that none is replaced before it is copied
        os.set_inheritable(target, True)
    own = {name: str(os.getpid()) for name in ("LISTEN_PID", "WATCHDOG_PID")}
    arguments = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, arguments, environ | own)  # noqa: S606 - it is this program
