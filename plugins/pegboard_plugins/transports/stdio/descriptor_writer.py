"""Non-blocking writes to a descriptor that leave it unchanged for other processes.

`O_NONBLOCK` belongs to the open file, not to the descriptor. A shell or a sibling process that shares the file would
see it.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
from asyncio import AbstractEventLoop
from collections.abc import Callable

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
        """Return the number of bytes that the reader has not taken, or None if it is unknown."""
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
    """Return a number that the system knows of a descriptor, or None if it does not."""
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
        from pegboard_plugins.transports.stdio.thread_writer import ThreadWriter

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
