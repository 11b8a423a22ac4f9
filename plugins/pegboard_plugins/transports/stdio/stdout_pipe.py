"""The pipe that replaces descriptor 1, and the thread that reads it.

The thread does nothing else. A tool that prints never waits, even while it blocks the event loop.
"""

from __future__ import annotations

import os
import select
from threading import Event, Lock, Thread

from pegboard_plugins.transports.stdio import c_library
from pegboard_plugins.transports.stdio.descriptors import private_pipe, write_all
from pegboard_plugins.transports.stdio.output_log import CLOSING_SECONDS, OutputLog
from pegboard_plugins.transports.stdio.running_tools import RunningTools

PIPE_BYTES = 64 * 1024
"""The capacity of a pipe."""
MAX_LAST_CHUNKS = 16
"""The largest number of chunks read at the end. A child process may print without end."""


class StdoutPipe:
    """A pipe whose data goes to the output log, with the names of the running tools.

    Attributes:
        entrance: the descriptor to write to.
    """

    _wake = b"\n"
    """The data that wakes the thread at the end."""
    _last_chunks = MAX_LAST_CHUNKS

    def __init__(self, running: RunningTools, output_log: OutputLog) -> None:
        self._running = running
        self._output_log = output_log
        self._exit, self.entrance = private_pipe()
        self._prepare()
        self._closing = False
        self._thread = Thread(target=self._empty, name="pegboard-stdout", daemon=True)
        self._thread.start()

    def _prepare(self) -> None:
        os.set_blocking(self._exit, False)
        self._arrival = _poll(self._exit)
        # held from reading until the names are known, so that no tool ends in between
        self._reading = Lock()

    def collect(self) -> bool:
        """Read printed output while the tool still counts as running. Return False if all of it is logged."""
        c_library.flush_output()
        with self._reading:
            if self._arrival.poll(0):
                self._read()
        return self._output_log.unsettled

    def settle(self) -> None:
        """Log the incomplete lines of tools that have ended."""
        self._output_log.settle()

    def finish(self) -> None:
        """Read and log all output, then repeat for output that the log's own handlers printed."""
        for _ in range(2):
            for _ in range(self._last_chunks):
                self.collect()
            self._output_log.flush()

    def close(self) -> None:
        """Stop reading. Child processes that print afterwards get a broken pipe."""
        self._closing = True
        os.write(self.entrance, self._wake)
        self._thread.join()
        os.close(self.entrance)
        os.close(self._exit)

    def _empty(self) -> None:
        arrival = _poll(self._exit)
        more = False
        while more or not self._closing:
            if not more:
                arrival.poll()
            with self._reading:
                more = self._read()

    def _read(self) -> bool:
        try:
            data = os.read(self._exit, PIPE_BYTES)
        except BlockingIOError:
            return False
        if not self._output_log.add(self, self._running.names(), data) and data != self._wake:
            write_all(2, data)
        return True


def _poll(descriptor: int) -> select.poll:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return poll


# --- The pipe that replaces descriptor 1 on systems that do not report whether a pipe has data.


class ThreadStdoutPipe(StdoutPipe):
    """A pipe that only its thread reads. A mark in the data shows the thread that it has read all output before it."""

    _wake = b"\n" * 64  # empty lines are not logged
    _last_chunks = 1

    def _prepare(self) -> None:
        self._marked = Event()

    def collect(self) -> bool:
        """Let the thread read the output of the tool that is ending."""
        c_library.flush_output()
        self._marked.clear()
        os.write(self.entrance, self._wake)
        self._marked.wait(CLOSING_SECONDS)
        return self._output_log.unsettled

    def _empty(self) -> None:
        last = b""
        while not self._closing:
            data = os.read(self._exit, PIPE_BYTES)
            last += data
            data = data.replace(self._wake, b"")
            if data and not self._output_log.add(self, self._running.names(), data):
                write_all(2, data)
            if self._wake in last:
                self._marked.set()
                last = b""
            last = last[-len(self._wake) :]
