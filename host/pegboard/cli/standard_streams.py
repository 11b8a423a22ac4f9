"""Keeps standard output for the client while plugins are loaded, and after the transport has given it back.

While a transport runs, this is its own affair.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def fill_closed() -> None:
    """Open what is closed of descriptors 0 to 2, or the next file to be opened would be taken for a standard stream."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class OutputApart:
    """Standard output, led to standard error for as long as nobody speaks to a client on it."""

    def __init__(self) -> None:
        self._private: int | None = None

    def away(self) -> None:
        """Lead it to standard error; what anybody prints is seen there."""
        if self._private is None:
            _flush()
            self._private = os.dup(1)
            os.dup2(2, 1)

    def back(self) -> None:
        """Give it back, for a transport to take."""
        if self._private is not None:
            _flush()
            os.dup2(self._private, 1)
            os.close(self._private)
            self._private = None


def _flush() -> None:
    if sys.stdout is not None:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
