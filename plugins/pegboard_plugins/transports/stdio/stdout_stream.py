"""The replacement of `sys.stdout`: output goes to the log under the name of the tool that prints."""

from __future__ import annotations

import os
from io import BufferedIOBase, TextIOWrapper
from threading import get_ident
from typing import TYPE_CHECKING

from pegboard import current_context
from pegboard_plugins.transports.stdio.descriptors import write_all
from pegboard_plugins.transports.stdio.output_log import OutputLog
from pegboard_plugins.transports.stdio.running_tools import RunningTools

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def open_stdout_stream(output_log: OutputLog, running: RunningTools) -> TextIOWrapper:
    """Return a `sys.stdout` that takes any string, whatever encoding the environment selects."""
    return TextIOWrapper(
        StdoutBuffer(output_log, running), encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True
    )


class StdoutBuffer(BufferedIOBase):
    """The replacement of `sys.stdout.buffer`. Closing it has no effect."""

    name = "<stdout>"
    mode = "wb"

    def __init__(self, output_log: OutputLog, running: RunningTools) -> None:
        super().__init__()
        self._output_log = output_log
        self._running = running
        self._process = os.getpid()

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return descriptor 1, which also leads to the log."""
        return 1

    def close(self) -> None:
        """Keep the buffer open."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Take all printed data."""
        printed = bytes(data)
        context = current_context()
        if os.getpid() != self._process:
            write_all(1, printed)  # a forked child has no log thread, only the descriptor
        elif context is None:
            self._add(get_ident(), self._running.names(), printed)
        else:
            self._add(context, (context.tool,), printed)
        return len(printed)

    def _add(self, source: object, names: tuple[str, ...], data: bytes) -> None:
        """Add output to the log, or write it to standard error if the log is closed."""
        if not self._output_log.add(source, names, data):
            write_all(2, data)
