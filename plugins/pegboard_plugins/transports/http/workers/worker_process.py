"""One process that serves: its start, its messages and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from pegboard_plugins.transports.http.passed_sockets import FIRST_DESCRIPTOR, WORKER_VARIABLE

_HANDLED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1}


class WorkerProcess:
    """A process that executes the command line of this process, and serves at given sockets.

    Args:
        place: the number of the worker, from 1, and the number of workers.
        sockets: the sockets at which it listens.
        alive: the reading end of a pipe that ends with this process.
        address: the path of the socket at which it reports (`sd_notify`).
        forward: called with each message that says that the process is alive.

    Attributes:
        number: the number of the worker.
        pid: its process id.
        status: the line for people in its last report.
        ready: set by each report that it is ready: after the start, and after each reload.
    """

    def __init__(
        self,
        place: tuple[int, int],
        sockets: Sequence[socket.socket],
        alive: int,
        address: Path,
        forward: Callable[[str], None],
    ) -> None:
        self.number, count = place
        self.status = ""
        self.ready = asyncio.Event()
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._forward = forward
        self._reports = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._reports.setblocking(False)
        self._reports.bind(str(address))
        asyncio.get_running_loop().add_reader(self._reports, self._read)
        environ = {**os.environ, WORKER_VARIABLE: f"{self.number}/{count}", "NOTIFY_SOCKET": str(address)}
        self.pid = _started(environ, alive, sorted({opened.fileno() for opened in sockets}))

    def _read(self) -> None:
        lines = self._reports.recv(65536).decode(errors="replace").splitlines()
        for line in lines:
            key, _, value = line.partition("=")
            if key == "STATUS":
                self.status = value
            elif line == "WATCHDOG=1":
                self._forward(line)
        if "READY=1" in lines:
            self.ready.set()

    def send(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if not self.has_ended:
            os.kill(self.pid, number)

    def reap(self) -> bool:
        """Return True if the process has ended. Call it until then."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            asyncio.get_running_loop().remove_reader(self._reports)
            self._reports.close()
            self._ended.set_result(os.waitstatus_to_exitcode(status))
        return pid != 0

    @property
    def has_ended(self) -> bool:
        """True if the process has ended."""
        return self._ended.done()

    async def end(self) -> int:
        """Wait for the end of the process. Return its exit code, or the negative number of a signal."""
        await asyncio.wait((self._ended,))
        return self._ended.result()

    async def is_ready(self, seconds: float | None = None) -> bool:
        """Wait for the next report that it is ready. Return False if it ends before, or after some seconds."""
        reported = asyncio.create_task(self.ready.wait())
        try:
            await asyncio.wait((reported, self._ended), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reported.cancel()
        return self.ready.is_set() and not self.has_ended


def _started(environ: dict[str, str], alive: int, descriptors: Sequence[int]) -> int:
    """Start a process with descriptors from 3 on, and return its id.

    Signals wait until the process has the default actions: those of this process would run in it otherwise.
    """
    mask = {*map(int, signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED))}
    try:
        if (pid := os.fork()) == 0:
            _execute(environ, alive, descriptors, mask)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return pid


def _execute(environ: dict[str, str], alive: int, descriptors: Sequence[int], mask: set[int]) -> NoReturn:
    """Execute the command line of this process in a process group of its own, which Ctrl-C does not reach."""
    with suppress(BaseException):
        os.setpgid(0, 0)
        for number in _HANDLED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        os.dup2(alive, 0)
        for target, descriptor in enumerate(descriptors, FIRST_DESCRIPTOR):
            os.dup2(descriptor, target)  # in ascending order, so that none is replaced before it is copied
            os.set_inheritable(target, True)
        pid = str(os.getpid())
        watched = {"WATCHDOG_PID": pid} if "WATCHDOG_USEC" in environ else {}
        environ |= {"LISTEN_PID": pid, "LISTEN_FDS": str(len(descriptors)), **watched}
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environ)  # noqa: S606 - it is this program
    os._exit(1)
