"""Keeps standard output for data and for clients while plugins are loaded, started and stopped.

While a transport runs, its descriptors are its own affair.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

_kept: list[TextIO | None] = []
"""Streams that plugins put in the place of `sys.stdout`. `print` holds no reference to the stream that it writes to: a
stream that is freed while a thread prints crashes the interpreter."""


def open_closed_descriptors() -> None:
    """Open what is closed of descriptors 0 to 2, or the next file to be opened would be taken for a standard stream."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class OutputDiversion:
    """Standard output, led to standard error for as long as whoever prints there is not meant to."""

    def __init__(self) -> None:
        self._private: int | None = None
        self._stream = sys.stdout

    def divert(self) -> int:
        """Lead descriptor 1 to standard error. Return a private descriptor of standard output."""
        if self._private is None:
            open_closed_descriptors()
            self._stream = sys.stdout
            self._flush()
            self._private = os.dup(1)
            os.dup2(2, 1)
        return self._private

    def restore(self) -> None:
        """Give it back, and `sys.stdout` too, whatever a plugin made of them."""
        if self._private is not None:
            self._flush()
            os.dup2(self._private, 1)
            os.close(self._private)
            self._private = None
            self.restore_stream()

    def restore_stream(self) -> None:
        """Write what was printed so far, and restore `sys.stdout`, which a plugin may have replaced."""
        self._flush()
        if sys.stdout is not self._stream:
            _kept.append(sys.stdout)
            sys.stdout = self._stream

    def _flush(self) -> None:
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.flush()
