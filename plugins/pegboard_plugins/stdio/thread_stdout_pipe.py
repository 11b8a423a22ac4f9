"""The pipe that replaces descriptor 1 on systems that do not report whether a pipe has data."""

from __future__ import annotations

import os
from threading import Event, Thread

from pegboard_plugins.stdio import c_library
from pegboard_plugins.stdio.descriptors import private_pipe
from pegboard_plugins.stdio.output_log import CLOSING_SECONDS, OutputLog
from pegboard_plugins.stdio.running_tools import RunningTools
from pegboard_plugins.stdio.stdout_pipe import PIPE_BYTES, write_all

_MARK = b"\n" * 64
"""The data that shows the thread that it has read all output before it. Empty lines are not logged."""


class ThreadStdoutPipe:
    """A pipe whose data goes to the output log, with the names of the running tools.

    Attributes:
        entrance: the descriptor to write to.
    """

    def __init__(self, running: RunningTools, output_log: OutputLog) -> None:
        self._running = running
        self._output_log = output_log
        self._exit, self.entrance = private_pipe()
        self._marked = Event()
        self._closing = False
        self._thread = Thread(target=self._empty, name="pegboard-stdout", daemon=True)
        self._thread.start()

    def collect(self) -> None:
        """Let the thread read the output of the tool that is ending."""
        c_library.flush_output()
        self._marked.clear()
        os.write(self.entrance, _MARK)
        self._marked.wait(CLOSING_SECONDS)

    def settle(self) -> None:
        """Log the incomplete lines of tools that have ended."""
        self._output_log.settle()

    def finish(self) -> None:
        """Wait until all output is logged, then repeat for output that the log's own handlers printed."""
        for _ in range(2):
            self.collect()
            self._output_log.flush()

    def close(self) -> None:
        """Stop reading. Child processes that print afterwards get a broken pipe."""
        self._closing = True
        os.write(self.entrance, _MARK)
        self._thread.join()
        os.close(self.entrance)
        os.close(self._exit)

    def _empty(self) -> None:
        last = b""
        while not self._closing:
            data = os.read(self._exit, PIPE_BYTES)
            last += data
            data = data.replace(_MARK, b"")
            if data and not self._output_log.add(self, self._running.names(), data):
                write_all(2, data)
            if _MARK in last:
                self._marked.set()
                last = b""
            last = last[-len(_MARK) :]
