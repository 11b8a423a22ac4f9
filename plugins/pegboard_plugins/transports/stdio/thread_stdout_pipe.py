"""The pipe that replaces descriptor 1 on systems that do not report whether a pipe has data."""

from __future__ import annotations

import os
from threading import Event

from pegboard_plugins.transports.stdio import c_library
from pegboard_plugins.transports.stdio.descriptors import write_all
from pegboard_plugins.transports.stdio.output_log import CLOSING_SECONDS
from pegboard_plugins.transports.stdio.stdout_pipe import PIPE_BYTES, StdoutPipe


class ThreadStdoutPipe(StdoutPipe):
    """A pipe that only its thread reads. A mark in the data shows the thread that it has read all output before it."""

    _wake = b"\n" * 64  # empty lines are not logged
    _last_chunks = 1

    def _prepare(self) -> None:
        self._marked = Event()

    def collect(self) -> None:
        """Let the thread read the output of the tool that is ending."""
        c_library.flush_output()
        self._marked.clear()
        os.write(self.entrance, self._wake)
        self._marked.wait(CLOSING_SECONDS)

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
