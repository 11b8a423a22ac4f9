"""Non-blocking writes to a descriptor that leave it unchanged for other processes.

`O_NONBLOCK` belongs to the open file, not to the descriptor. A shell or a sibling process that shares the file would
see it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
import sys
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

from pegboard_plugins.transports.stdio.descriptors import CAN_POLL, write_all


class DescriptorWriter:
    """A writer to a terminal, a file or a device. Every write blocks.

    Attributes:
        descriptor: the descriptor that an event loop watches for room.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def write(self, data: bytearray) -> int:
        """Write data and return the number of bytes written.

        Raises:
            BlockingIOError: there is no room now.
            OSError: the other end is closed.
        """
        write_all(self.descriptor, data)
        return len(data)

    def unread(self) -> int | None:
        """Return the number of bytes that the reader has not read, or None if it is unknown."""
        return 0

    def watch(self, loop: AbstractEventLoop, callback: Callable[[], None]) -> None:
        """Call `callback` whenever the descriptor accepts data, until `unwatch`."""
        loop.add_writer(self.descriptor, callback)

    def unwatch(self, loop: AbstractEventLoop) -> None:
        """Stop calling back."""
        loop.remove_writer(self.descriptor)

    def close(self, rest: bytearray) -> int:
        """Release the resources of this writer. Return the number of bytes of `rest` that were written meanwhile."""
        return 0


class SocketWriter(DescriptorWriter):
    """A writer to a socket. Writes do not block."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._socket = socket.socket(fileno=descriptor)

    def write(self, data: bytearray) -> int:
        """Write as much as there is room for."""
        return self._socket.send(data, socket.MSG_DONTWAIT)

    def unread(self) -> int | None:
        """Return the socket's count of unread data. The count includes overhead, but is 0 when all bytes are read."""
        return _asked(self.descriptor, "TIOCOUTQ")

    def close(self, rest: bytearray) -> int:
        """Keep the descriptor open."""
        self._socket.detach()
        return 0


class PipeWriter(DescriptorWriter):
    """A writer to a pipe. Writes do not block."""

    def write(self, data: bytearray) -> int:
        """Write as much as there is room for."""
        return os.write(self.descriptor, data)

    def unread(self) -> int | None:
        """Return the number of unread bytes in the pipe. Only Linux reports this number to the writer."""
        return _asked(self.descriptor, "FIONREAD") if sys.platform == "linux" else None


class ReopenedPipeWriter(PipeWriter):
    """A writer to a pipe that is opened again, so that only its own writes are non-blocking. This requires Linux."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK))

    def close(self, rest: bytearray) -> int:
        """Close the descriptor that was opened."""
        os.close(self.descriptor)
        return 0


class SharedPipeWriter(PipeWriter):
    """A writer to a pipe that cannot be opened again. The pipe is non-blocking for all its users until the end."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._was_blocking = os.get_blocking(descriptor)
        os.set_blocking(descriptor, False)

    def close(self, rest: bytearray) -> int:
        """Restore the blocking mode."""
        os.set_blocking(self.descriptor, self._was_blocking)
        return 0


def _asked(descriptor: int, question: str) -> int | None:
    """Return a number that the system reports about a descriptor, or None if it does not."""
    try:
        import fcntl
        import termios

        answer = fcntl.ioctl(descriptor, getattr(termios, question), b"\0" * 4)
    except (ImportError, AttributeError, OSError):
        return None
    return int.from_bytes(answer, sys.byteorder)


def open_writer(descriptor: int) -> DescriptorWriter:
    """Return the writer that suits a descriptor and the system."""
    if not CAN_POLL:
        return ThreadWriter(descriptor)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        return SocketWriter(descriptor)
    if not stat.S_ISFIFO(mode):
        return DescriptorWriter(descriptor)
    try:
        return ReopenedPipeWriter(descriptor)
    except OSError:
        return SharedPipeWriter(descriptor)


# --- Writes by a thread, for systems whose event loops cannot watch pipes.

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
