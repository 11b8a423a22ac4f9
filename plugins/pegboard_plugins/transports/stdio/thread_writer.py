"""Writes by a thread, for systems whose event loops cannot watch pipes."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

from pegboard_plugins.transports.stdio.descriptor_writer import DescriptorWriter

MAX_PIECE_BYTES = 64 * 1024
"""The largest number of bytes that the thread has at once. The connection keeps the rest and limits it."""
LAST_SECONDS = 0.5
"""How long closing waits for the client to take the last messages."""


class ThreadWriter(DescriptorWriter):
    """A writer to a descriptor of any kind. A thread with a duplicate of its own writes one piece after the other.

    `write` takes a piece and reports it as written when the thread is done. Until then the connection keeps it.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(os.dup(descriptor))
        self._loop = asyncio.get_running_loop()
        self._pieces: SimpleQueue[bytes] = SimpleQueue()
        self._piece = b""
        self._written = 0
        self._error: OSError | None = None
        self._on_room: Callable[[], None] | None = None
        self._thread = Thread(target=self._work, name="pegboard-responses", daemon=True)
        self._thread.start()

    def write(self, data: bytearray) -> int:
        """Return the size of the piece that was written, and pass the next piece to the thread.

        Raises:
            BlockingIOError: the thread is writing.
            OSError: the other end is closed.
        """
        if self._error is not None:
            raise self._error
        written = self._take_written()
        if not self._piece and len(data) > written:
            self._piece = bytes(data[written : written + MAX_PIECE_BYTES])
            self._pieces.put(self._piece)
        if not written:
            raise BlockingIOError
        return written

    def unread(self) -> int | None:
        """Return None, because the system does not report unread data."""
        return None

    def watch(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        """Call back after each piece."""
        self._on_room = callback

    def unwatch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop calling back."""
        self._on_room = None

    def close(self, rest: bytearray) -> int:
        """Write for at most `LAST_SECONDS`. Return the number of written bytes."""
        if last := bytes(rest[len(self._piece) :]):
            self._pieces.put(last)
        self._pieces.put(b"")
        self._thread.join(LAST_SECONDS)
        return self._take_written()

    def _take_written(self) -> int:
        written, self._written = self._written, 0
        if written:
            self._piece = b""
        return written

    def _work(self) -> None:
        while piece := self._pieces.get():
            try:
                self._written += super().write(bytearray(piece))
            except OSError as error:
                # Windows reports a closed pipe as an invalid argument
                self._error = BrokenPipeError() if error.errno == errno.EINVAL else error
            with suppress(RuntimeError):  # the event loop is closed
                self._loop.call_soon_threadsafe(self._call_back)
        os.close(self.descriptor)

    def _call_back(self) -> None:
        if self._on_room is not None:
            self._on_room()
