"""The process that starts, replaces, reloads and stops the workers."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import NoReturn

from pegboard.plugin import RunningWorkers
from pegboard.terminal import say
from pegboard.types import ReloadResult
from pegboard_plugins.transports.http.passed_sockets import FIRST_DESCRIPTOR, WORKER_VARIABLE
from pegboard_plugins.transports.http.workers.listening import SocketGroup

MAX_FAILURES = 5
"""How many workers may end within `FAILURE_SECONDS`. With the last one, the server ends."""
FAILURE_SECONDS = 10.0
FIRST_DELAY_SECONDS = 0.1
"""The delay before the first restart. Each further failure within `FAILURE_SECONDS` doubles it."""
RELOAD_SECONDS = 30.0
"""How long one worker may take to reload, or its replacement to start."""
OWN_KEYS = tuple(f"plugins.http.{key}" for key in ("host", "port", "socket", "workers"))
"""The keys that only a restart of this process applies."""
MAX_REPORT_BYTES = 65536

logger = logging.getLogger("pegboard.plugins.http")


class Supervisor:
    """The workers of this process. Use it in the event loop's thread, the only one of the process.

    Args:
        groups: the sockets of each worker.
        records: the record by which `pegboard reload` finds this process.
        folder: a folder for a socket at which the workers report (`sd_notify`).
    """

    def __init__(self, groups: Sequence[SocketGroup], records: RunningWorkers, folder: str) -> None:
        self._groups = groups
        self._records = records
        self._address = f"{folder}/reports"
        self._serving: dict[int, WorkerProcess] = {}  # by the number of the worker
        self._running: dict[int, WorkerProcess] = {}  # by process id, also those that finish after a replacement
        self._status = ""
        self._failures: list[tuple[float, int]] = []  # the times and exit codes of the last failures
        self._wants_reload = asyncio.Event()
        self._stopping = asyncio.Event()
        self._last_signal = signal.SIGTERM
        self._code = 0
        self._is_ready = False
        self._alive, self._our_end = os.pipe()

    async def run(self) -> int:
        """Serve until a signal, or until the workers fail. Return the exit code."""
        self._handle_signals()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reports:
            reports.bind(self._address)
            asyncio.get_running_loop().add_reader(reports, self._read, reports)
            serving = asyncio.create_task(self._serve())
            ending = asyncio.create_task(self._stopping.wait())
            await asyncio.wait((serving, ending), return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
            _notify("STOPPING=1")
            for opened in (opened for group in self._groups for opened in group):
                opened.close()  # the workers accept the connections that wait, and later ones are refused
            os.close(self._our_end)
            self._send_all(self._last_signal)
            await asyncio.gather(*(process.ended.wait() for process in self._running.values()))
        if serving.done() and not serving.cancelled():
            serving.result()
        return self._code

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        loop.add_signal_handler(signal.SIGUSR1, self._wants_reload.set)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        is_of_terminal = os.isatty(0) or os.isatty(2)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            ends = (self._stop, signal.SIGTERM)
            loop.add_signal_handler(signal.SIGHUP, *(ends if is_of_terminal else (self._wants_reload.set,)))

    def _stop(self, number: signal.Signals) -> None:
        """Stop all workers. A second signal ends them at once, as they restore its default action."""
        if self._stopping.is_set():
            self._send_all(number)
        self._last_signal = number
        self._stopping.set()

    def _send_all(self, number: signal.Signals) -> None:
        for process in self._running.values():
            process.send(number)

    def _reap(self) -> None:
        self._running = {pid: process for pid, process in self._running.items() if not process.reap()}

    def _read(self, reports: socket.socket) -> None:
        """Read a report of a worker. Once all are ready, report to the service manager that a worker is alive."""
        report = reports.recv(MAX_REPORT_BYTES).decode(errors="replace")
        fields = dict(line.split("=", 1) for line in report.splitlines() if "=" in line)
        process = self._running.get(int(fields.get("MAINPID", 0)))
        self._status = fields.get("STATUS", self._status)
        if process is not None and "READY" in fields:
            process.ready.set()
        if "WATCHDOG" in fields and self._is_ready:
            _notify(report)

    # --- starts and restarts

    async def _serve(self) -> None:
        """Start the workers, and keep them running. The first starts alone, so that mistakes are reported once."""
        numbers = range(1, len(self._groups) + 1)
        for started in (numbers[:1], numbers[1:]):
            self._serving |= {number: self._start(number) for number in started}
            for process in [self._serving[number] for number in started]:
                if not await process.is_ready():
                    self._code = _exit_code(process.code)
                    return
        self._records.write(self._serving[1].pid)
        say(f"{len(numbers)} workers: the host {self._status}")
        _notify(f"READY=1\nSTATUS={len(numbers)} workers: {self._status}")
        self._is_ready = True
        await asyncio.gather(self._reload_on_request(), *map(self._keep, numbers))

    def _start(self, number: int) -> WorkerProcess:
        place = f"{number}/{len(self._groups)}"
        descriptors = sorted({opened.fileno() for opened in self._groups[number - 1]})
        environ = {**os.environ, WORKER_VARIABLE: place, "NOTIFY_SOCKET": self._address}
        environ["LISTEN_FDS"] = str(len(descriptors))
        process = WorkerProcess(number, environ, descriptors, self._alive)
        self._running[process.pid] = process
        return process

    async def _keep(self, number: int) -> None:
        """Start a worker again whenever it ends."""
        while not self._stopping.is_set():
            process = self._serving[number]
            await process.ended.wait()
            if self._serving[number] is process:
                await asyncio.sleep(self._delay_after(process))
            if self._serving[number] is process:  # else a reload has replaced it
                self._serving[number] = self._start(number)

    def _delay_after(self, process: WorkerProcess) -> float:
        """Return the seconds until a worker that has failed starts again. End after too many failures."""
        now = asyncio.get_running_loop().time()
        logger.error("worker %d (process %d) has ended with %d", process.number, process.pid, process.code)
        self._failures = [failure for failure in self._failures if failure[0] > now - FAILURE_SECONDS]
        self._failures.append((now, _exit_code(process.code)))
        if len(self._failures) >= MAX_FAILURES:
            self._code = self._failures[0][1]
            text = f"{MAX_FAILURES} workers have ended within {FAILURE_SECONDS:g} s"
            say(f"{text}, the first with exit code {self._code}: its messages above have the reason", level=40)
            self._stopping.set()
        return float(FIRST_DELAY_SECONDS * 2 ** (len(self._failures) - 1))

    # --- reloads

    async def _reload_on_request(self) -> None:
        """Reload one worker after the other at each request, and record the different results of all."""
        while True:
            await self._wants_reload.wait()
            self._wants_reload.clear()
            of_each = [await self._reload(number) for number in sorted(self._serving)]
            results = dict.fromkeys(result for results in of_each for result in results)
            self._records.write(self._serving[1].pid, [*results])

    async def _reload(self, number: int) -> Sequence[ReloadResult]:
        """Reload a worker. Replace its process if only a new one can apply the changes."""
        process = self._serving[number]
        if process.ended.is_set() or not process.ready.is_set():  # it starts again, with the new files
            return ()
        process.ready.clear()
        process.send(signal.SIGUSR1)
        if not await process.is_ready(RELOAD_SECONDS):
            return [ReloadResult(f"worker {number}", "failed", f"no reload within {RELOAD_SECONDS:g} s: see its log")]
        results = self._records.results(process.pid)
        if all(result.outcome != "restart needed" for result in results):
            return results
        replacement = self._start(number)
        if not await replacement.is_ready(RELOAD_SECONDS):
            replacement.send(signal.SIGKILL)
            return [*results, ReloadResult(f"worker {number}", "kept", "its replacement does not start: see its log")]
        self._serving[number].send(signal.SIGTERM)  # another process if the first has ended meanwhile
        self._serving[number] = replacement
        return [*map(_after_replacement, results)]


async def supervise(groups: Sequence[SocketGroup], records: RunningWorkers) -> int:
    """Serve by a worker for each group of sockets. Return the exit code."""
    with TemporaryDirectory(prefix="pegboard-") as folder:
        return await Supervisor(groups, records, folder).run()


def _after_replacement(result: ReloadResult) -> ReloadResult:
    """Return a result after a new process has replaced the old one."""
    is_applied = result.outcome != "restart needed" or any(key in result.reason for key in OWN_KEYS)
    return result if is_applied else result._replace(outcome="reloaded", reason="")


def _exit_code(code: int) -> int:
    """Return the exit code of this process for that of a worker that should not have ended."""
    return 128 - code if code < 0 else code or 1


def _notify(message: str) -> None:
    """Send a message to the service manager of this process, if it has one (`sd_notify`)."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode(), f"\0{address[1:]}" if address.startswith("@") else address)


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
