"""Writes the log to standard error, and serves on when that fails or when nobody reads it."""

from __future__ import annotations

import logging
import os
import select
import sys
from contextlib import suppress
from time import monotonic

WAIT_SECONDS = 1.0
"""How long a record waits for the reader of standard error. Later ones do not wait until it reads again."""
MAX_WRITE_BYTES = 4096
"""A pipe that is ready takes so many bytes without blocking (POSIX: PIPE_BUF)."""


class LogHandler(logging.StreamHandler):  # type: ignore[type-arg]  # it is generic for type checkers alone
    """A log handler on standard error that neither raises nor blocks.

    A full disk, a closed stream and a reader that has gone lose the record. A reader that does not read loses it after
    `WAIT_SECONDS`; the next record that gets through says how many were lost.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._left_out = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or leave it out."""
        if self.stream is not sys.__stderr__ or self.stream is None:
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
        """Report a fault in a record, where that can be reported."""
        with suppress(Exception):
            super().handleError(record)

    def _write(self, data: bytes) -> bool:
        """Write bytes to descriptor 2 as it takes them. Return False if nobody reads them."""
        until = monotonic() + (0 if self._left_out else WAIT_SECONDS)
        with suppress(OSError, ValueError):
            self.flush()
            poll = select.poll()
            poll.register(2, select.POLLOUT)
            while data:
                if not poll.poll(max(0, until - monotonic()) * 1000):
                    return False
                data = data[os.write(2, data[:MAX_WRITE_BYTES]) :]
        return True


def _told(count: int) -> logging.LogRecord:
    message = "%d log records were left out, as nobody read standard error"
    return logging.LogRecord("pegboard.cli", logging.WARNING, __file__, 0, message, (count,), None)
