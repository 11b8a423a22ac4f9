"""Redirection of standard output, so that plugins that load, start or stop cannot write to clients.

A transport that runs manages its descriptors itself.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

_kept: list[TextIO | None] = []
"""Streams by which plugins replaced `sys.stdout`. `print` holds no reference to its stream, and a stream that is freed
while a thread prints crashes the interpreter.
"""


def open_closed_descriptors() -> None:
    """Open closed descriptors 0 to 2. Otherwise the next file that is opened would be a standard stream."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is `descriptor`


def write_utf_8(*streams: TextIO | None) -> None:
    """Let streams that are pipes or files write UTF-8. On Windows they have the encoding of the user's language."""
    for stream in streams:
        if isinstance(stream, TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors=stream.errors)


class OutputDiversion:
    """Standard output, redirected to standard error."""

    def __init__(self) -> None:
        self._private: int | None = None
        self._stream = sys.stdout

    def divert(self) -> int:
        """Redirect descriptor 1 to standard error. Return a private descriptor of standard output."""
        if self._private is None:
            open_closed_descriptors()
            self._stream = sys.stdout
            self._flush()
            self._private = os.dup(1)
            os.dup2(2, 1)
        return self._private

    def restore(self) -> None:
        """Restore descriptor 1 and `sys.stdout`, even if a plugin replaced them."""
        if self._private is not None:
            self._flush()
            os.dup2(self._private, 1)
            os.close(self._private)
            self._private = None
            self.restore_stream()

    def restore_stream(self) -> None:
        """Flush the output so far and restore `sys.stdout`, which a plugin may have replaced."""
        self._flush()
        if sys.stdout is not self._stream:
            _kept.append(sys.stdout)
            sys.stdout = self._stream

    def _flush(self) -> None:
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.flush()
