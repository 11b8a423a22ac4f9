"""The log on standard error. The host continues if a record cannot be written."""

from __future__ import annotations

import logging
import os
import select
import sys
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from pegboard.terminal.blocking_descriptor import BlockingDescriptor
from pegboard.terminal.printing import clear_progress

if TYPE_CHECKING:
    from pegboard.terminal.blocking_descriptor import BlockingDescriptor

WAIT_SECONDS = 1.0
"""How long a record waits for the reader of standard error. After a timeout, later records do not wait."""
MAX_WRITE_BYTES = 4096
"""Bytes that a pipe which is ready accepts without blocking (POSIX: PIPE_BUF)."""


class LogHandler(logging.StreamHandler):  # type: ignore[type-arg]  # it is generic in type stubs only
    """A log handler on standard error that neither raises nor blocks.

    A record is lost if the disk is full, the stream is closed, or its reader is gone or does not read for
    `WAIT_SECONDS`. The next record that is written is preceded by the number of lost ones.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._left_out = 0
        self._descriptor: BlockingDescriptor | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or drop it."""
        clear_progress()
        if self.stream is not sys.__stderr__ or self.stream is None or self._is_console():
            super().emit(record)
            return
        try:
            text = f"{self.format(record)}\n"
        except Exception:  # noqa: BLE001 - `handleError` reports the faults of the record's author
            self.handleError(record)
            return
        if self._left_out:
            text = f"{self.format(_told(self._left_out))}\n{text}"
        self._left_out = 0 if self._write(text.encode(errors="backslashreplace")) else self._left_out + 1

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name in `logging`
        """Report an error in a record, if that is possible."""
        with suppress(Exception):
            super().handleError(record)

    def flush(self) -> None:
        """Flush the stream. Wait until the last record is written, at most `WAIT_SECONDS`."""
        super().flush()
        if self._descriptor is not None:
            self._descriptor.wait(WAIT_SECONDS)

    def _write(self, data: bytes) -> bool:
        """Write bytes to file descriptor 2. Return False if the reader did not accept all bytes in time."""
        seconds = 0 if self._left_out else WAIT_SECONDS
        with suppress(OSError, ValueError):
            super().flush()
            if hasattr(select, "poll"):
                return _write_in_time(data, monotonic() + seconds)
            if self._descriptor is None:
                self._descriptor = BlockingDescriptor(2)
            return self._descriptor.write(data, seconds)
        return True

    def _is_console(self) -> bool:
        """Return True for a Windows console: its stream converts UTF-8, and its window accepts data at once."""
        return not hasattr(select, "poll") and self.stream.isatty()


def _write_in_time(data: bytes, until: float) -> bool:
    poll = select.poll()
    poll.register(2, select.POLLOUT)
    while data:
        if not poll.poll(max(0, until - monotonic()) * 1000):
            return False
        data = data[os.write(2, data[:MAX_WRITE_BYTES]) :]
    return True


def _told(count: int) -> logging.LogRecord:
    message = "%d log records were dropped because standard error was not read"
    return logging.LogRecord("pegboard.cli", logging.WARNING, __file__, 0, message, (count,), None)
