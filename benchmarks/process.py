"""One server process, its CPU time and its memory; and a server that reads messages from a pipe.

The CPU time is that of the process's clock (clock_getcpuclockid(3)), in nanoseconds and for all threads.
`/proc/PID/stat` rounds this time to 10 ms.
"""

from __future__ import annotations

import gc
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self, TypeVar

TIMEOUT_SECONDS = 300.0
_CHUNK = 2**16

T = TypeVar("T")


class ServerFailedError(Exception):
    """The process ended, or did not respond in time. The message has the last lines of its standard error."""


class Process:
    """A process that serves. It runs from construction to `stop`.

    Args:
        command: its command.
        environ: all its environment variables.
        cpus: the processors that it may use; None for all.
        pipes: True to connect its standard input and output to this process by pipes.
    """

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], cpus: set[int] | None, *, pipes: bool
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmarks-")
        self._errors = Path(self._folder.name, "stderr")
        self._command = command
        own_cpus = os.sched_getaffinity(0)
        ends = subprocess.PIPE if pipes else subprocess.DEVNULL
        self._started = time.perf_counter()
        try:
            if cpus:
                os.sched_setaffinity(0, cpus)  # inherited; a hook in the child would forbid the fast way to spawn
            with self._errors.open("wb") as errors:
                self._process = subprocess.Popen(
                    command, stdin=ends, stdout=ends, stderr=errors, env=environ, cwd=self._folder.name, bufsize=0
                )
        finally:
            os.sched_setaffinity(0, own_cpus)
        self._clock = (~self._process.pid << 3) | 2

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def cpu_seconds(self) -> float:
        """Return the CPU time so far: user and system time of all threads."""
        return time.clock_gettime(self._clock)

    def timed(self, action: Callable[[], T]) -> tuple[T, float, float]:
        """Run an action of the client. Return its result, and the wall and CPU seconds of the process meanwhile."""
        gc.disable()
        try:
            cpu, started = self.cpu_seconds(), time.perf_counter()
            result = action()
            return result, time.perf_counter() - started, self.cpu_seconds() - cpu
        finally:
            gc.enable()

    def age_seconds(self) -> float:
        """Return the time since its start."""
        return time.perf_counter() - self._started

    def memory_mib(self) -> tuple[float, float]:
        """Return the resident memory and its maximum so far, in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("ascii")
        sizes = dict(line.split(":", 1) for line in status.splitlines() if line.startswith(("VmRSS", "VmHWM")))
        now, peak = (int(sizes[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
        return now, peak

    def resident_kib(self) -> float:
        """Return the resident memory in KiB. Each page is counted; `memory_mib` may differ by some dozen pages."""
        rollup = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text("ascii")
        return float(next(line.split()[1] for line in rollup.splitlines() if line.startswith("Rss:")))

    def uses(self, library: str) -> bool:
        """Return True if it has loaded a compiled library of that name."""
        return library in Path(f"/proc/{self._process.pid}/maps").read_text("utf-8", "replace")

    def stop(self) -> None:
        """Terminate the process and wait. Kill it if it does not end."""
        self._tell_to_end()
        try:
            self._process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _tell_to_end(self) -> None:
        self._process.terminate()

    def _fail(self, what: str) -> NoReturn:
        errors = self._errors.read_text("utf-8", "replace")[-2000:]
        raise ServerFailedError(f"{what}: {' '.join(self._command)}\n{errors}")


class Server(Process):
    """A server on a pair of pipes. It ends when its input ends."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cpus: set[int] | None) -> None:
        super().__init__(command, environ, cpus, pipes=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)

    def exchange(self, data: bytes, answers: int) -> bytes:
        """Write lines that fit the buffer of a pipe, and return as many lines of output."""
        os.write(self._in, data)
        if not self._poll.poll(TIMEOUT_SECONDS * 1000):
            self._fail("no answer")
        got = os.read(self._out, _CHUNK)
        if got.endswith(b"\n") and answers == 1:
            return got
        parts = [got]
        missing = answers - got.count(b"\n")
        while missing > 0 or not parts[-1].endswith(b"\n"):
            if not got or not self._poll.poll(TIMEOUT_SECONDS * 1000):
                self._fail("answers are missing")
            got = os.read(self._out, _CHUNK)
            parts.append(got)
            missing -= got.count(b"\n")
        return b"".join(parts)

    def tell(self, data: bytes) -> None:
        """Write a line that has no response."""
        os.write(self._in, data)

    def wait_for_line(self) -> bytes:
        """Return the next line of output."""
        return self.exchange(b"", 1)

    def _tell_to_end(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
