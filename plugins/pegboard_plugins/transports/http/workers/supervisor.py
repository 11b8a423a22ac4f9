"""The process that starts, replaces, reloads and stops the workers."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from pegboard.plugin import RunningWorkers
from pegboard.terminal import say
from pegboard.types import ReloadResult
from pegboard_plugins.transports.http.workers.listening import SocketGroup
from pegboard_plugins.transports.http.workers.worker_process import WorkerProcess

MAX_FAILURES = 5
"""How many workers may end within `FAILURE_SECONDS`. With the last one, the server ends."""
FAILURE_SECONDS = 10.0
FIRST_DELAY_SECONDS = 0.1
"""The delay before the first restart. Each further failure within `FAILURE_SECONDS` doubles it."""
RELOAD_SECONDS = 30.0
"""How long one worker may take to reload, or its replacement to start."""
OWN_KEYS = tuple(f"plugins.http.{key}" for key in ("host", "port", "socket", "workers"))
"""The keys that only a restart of this process applies."""

logger = logging.getLogger("pegboard.plugins.http")


class Supervisor:
    """The workers of this process. Use it in the event loop's thread, the only one of the process.

    Args:
        groups: the sockets of each worker.
        records: the record by which `pegboard reload` finds this process.
    """

    def __init__(self, groups: Sequence[SocketGroup], records: RunningWorkers) -> None:
        self._groups = groups
        self._records = records
        self._serving: dict[int, WorkerProcess] = {}  # by the number of the worker
        self._running: set[WorkerProcess] = set()  # also those that were replaced and finish their requests
        self._failures: list[tuple[float, int]] = []  # the times and exit codes of the last failures
        self._starts = 0
        self._wants_reload = asyncio.Event()
        self._end: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._last_signal = signal.SIGTERM
        self._pipe = os.pipe()  # its reading end is the standard input of each worker

    async def run(self) -> int:
        """Serve until a signal, or until the workers fail. Return the exit code."""
        self._handle_signals()
        with TemporaryDirectory(prefix="pegboard-") as folder:
            self._folder = Path(folder)
            serving = asyncio.create_task(self._serve())
            await asyncio.wait((self._end, serving), return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
            _notify("STOPPING=1")
            for opened in (opened for group in self._groups for opened in group):
                opened.close()  # the workers accept the connections that wait, and later ones are refused
            self._send(self._last_signal)
            await asyncio.gather(*(process.end() for process in self._running))
        if not self._end.done():
            serving.result()
        return self._end.result()

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        loop.add_signal_handler(signal.SIGUSR1, self._wants_reload.set)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            return
        if os.isatty(0) or os.isatty(2):
            loop.add_signal_handler(signal.SIGHUP, self._stop, signal.SIGTERM)
        else:
            loop.add_signal_handler(signal.SIGHUP, self._wants_reload.set)

    def _stop(self, number: signal.Signals) -> None:
        """Stop all workers. A second signal ends them at once, as they restore its default action."""
        if self._end.done():
            self._send(number)
        else:
            self._last_signal = number
            self._end.set_result(0)

    def _send(self, number: signal.Signals) -> None:
        for process in self._running:
            process.send(number)

    def _reap(self) -> None:
        for process in tuple(self._running):
            if process.reap():
                self._running.discard(process)

    # --- starts and restarts

    async def _serve(self) -> None:
        """Start the workers, and keep them running. The first starts alone, so that mistakes are reported once."""
        numbers = range(1, len(self._groups) + 1)
        for started in ((1,), numbers[1:]):
            for number in started:
                self._serving[number] = self._start(number)
            for number in started:
                if not await self._serving[number].is_ready():
                    self._end.set_result(_exit_code(await self._serving[number].end()))
                    return
        first = self._serving[1]
        self._records.write(first.pid)
        say(f"{len(numbers)} workers: the host {first.status}")
        _notify(f"READY=1\nSTATUS={len(numbers)} workers: {first.status}")
        await asyncio.gather(self._reload_on_request(), *map(self._keep, numbers))

    def _start(self, number: int) -> WorkerProcess:
        self._starts += 1
        address = self._folder / str(self._starts)
        count = len(self._groups)
        process = WorkerProcess((number, count), self._groups[number - 1], self._pipe[0], address, _notify)
        self._running.add(process)
        return process

    async def _keep(self, number: int) -> None:
        """Start a worker again whenever it ends."""
        while not self._end.done():
            process = self._serving[number]
            code = await process.end()
            if self._serving[number] is process:  # else a reload has replaced it
                await asyncio.sleep(self._delay_after(process, code))
                self._serving[number] = self._start(number)

    def _delay_after(self, process: WorkerProcess, code: int) -> float:
        """Return the seconds until a worker that has failed starts again. End after too many failures."""
        now = asyncio.get_running_loop().time()
        self._failures = [failure for failure in self._failures if failure[0] > now - FAILURE_SECONDS]
        self._failures.append((now, _exit_code(code)))
        logger.error("worker %d (process %d) has ended with %d", process.number, process.pid, code)
        if len(self._failures) >= MAX_FAILURES and not self._end.done():
            first = self._failures[0][1]
            text = f"{MAX_FAILURES} workers have ended within {FAILURE_SECONDS:g} s, the first with exit code {first}"
            say(f"{text}: its messages above have the reason", level=40)
            self._end.set_result(first)
        return float(FIRST_DELAY_SECONDS * 2 ** (len(self._failures) - 1))

    # --- reloads

    async def _reload_on_request(self) -> None:
        """Reload one worker after the other at each request, and record all results."""
        while True:
            await self._wants_reload.wait()
            self._wants_reload.clear()
            of_each = [await self._reload(number) for number in sorted(self._serving)]
            self._records.write(self._serving[1].pid, _together(of_each))

    async def _reload(self, number: int) -> Sequence[ReloadResult]:
        """Reload a worker. Replace its process if only a new one can apply the changes."""
        process = self._serving[number]
        if process.has_ended or not process.ready.is_set():  # it starts again, with the new files
            await process.is_ready(RELOAD_SECONDS)
            return ()
        process.ready.clear()
        process.send(signal.SIGUSR1)
        if not await process.is_ready(RELOAD_SECONDS):
            return [ReloadResult("the host", "failed", f"it did not reload within {RELOAD_SECONDS:g} s: see its log")]
        results = self._records.results(process.pid)
        if all(result.outcome != "restart needed" for result in results):
            return results
        replacement = self._start(number)
        if not await replacement.is_ready(RELOAD_SECONDS):
            replacement.send(signal.SIGKILL)
            return [*results, ReloadResult("the host", "kept", "a new process with these changes does not start")]
        self._serving[number] = replacement
        process.send(signal.SIGTERM)
        return [*map(_applied, results)]


async def supervise(groups: Sequence[SocketGroup], records: RunningWorkers) -> int:
    """Serve by a worker for each group of sockets. Return the exit code."""
    return await Supervisor(groups, records).run()


def _applied(result: ReloadResult) -> ReloadResult:
    """Return a result after a new process has taken the place of the old one."""
    if result.outcome != "restart needed" or any(key in result.reason for key in OWN_KEYS):
        return result
    return result._replace(outcome="reloaded", reason="")


def _together(of_each: Iterable[Sequence[ReloadResult]]) -> Sequence[ReloadResult]:
    """Return the results of all workers. Those of some only name them."""
    numbers: dict[ReloadResult, list[str]] = {}
    count = 0
    for count, results in enumerate(of_each, 1):
        for result in results:
            numbers.setdefault(result, []).append(str(count))
    return [
        result if len(own) == count else result._replace(name=f"{result.name} (worker {', '.join(own)})")
        for result, own in numbers.items()
    ]


def _exit_code(code: int) -> int:
    """Return the exit code of this process for that of a worker that should not have ended."""
    return 128 - code if code < 0 else code or 1


def _notify(message: str) -> None:
    """Send a message to the service manager of this process, if it has one (`sd_notify`)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
