"""Writing to a descriptor as far as it goes without blocking, and without changing it for others that hold it.

`O_NONBLOCK` belongs to the open file, not to the descriptor: a shell or a sibling process that shares it would see it.
"""

from __future__ import annotations

import os
import socket
import stat
import sys


class DescriptorWriter:
    """A terminal, a file or a device: writes block, as there is nothing to wait with.

    Attributes:
        descriptor: what an event loop watches for room.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def write(self, data: bytearray) -> int:
        """Write; how many bytes went out.

        Raises:
            BlockingIOError: there is no room now.
            OSError: the other end is gone.
        """
        written = 0
        while written < len(data):
            written += os.write(self.descriptor, memoryview(data)[written:])
        return written

    def unread(self) -> int | None:
        """Return how many bytes the reader has not taken yet, None if that is unknown."""
        return 0

    def close(self) -> None:
        """Give up what was opened for writing, and nothing else."""


class SocketWriter(DescriptorWriter):
    """A socket, told with every write not to block."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._socket = socket.socket(fileno=descriptor)

    def write(self, data: bytearray) -> int:
        """As much as there is room for."""
        return self._socket.send(data, socket.MSG_DONTWAIT)

    def unread(self) -> int | None:
        """Ask the socket. The number counts more than the bytes, but is 0 when there are none."""
        return _asked(self.descriptor, "TIOCOUTQ")

    def close(self) -> None:
        """The descriptor stays open."""
        self._socket.detach()


class ReopenedPipeWriter(DescriptorWriter):
    """A pipe, opened anew so that only this process's writes do not block. Linux has that."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))

    def write(self, data: bytearray) -> int:
        """As much as there is room for."""
        return os.write(self.descriptor, data)

    def unread(self) -> int | None:
        """Ask the pipe."""
        return _asked(self.descriptor, "FIONREAD")

    def close(self) -> None:
        """Close what was opened."""
        os.close(self.descriptor)


class SharedPipeWriter(DescriptorWriter):
    """A pipe that cannot be opened anew: made non-blocking for everybody who holds it, until the end."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._was_blocking = os.get_blocking(descriptor)
        os.set_blocking(descriptor, False)

    def write(self, data: bytearray) -> int:
        """As much as there is room for."""
        return os.write(self.descriptor, data)

    def unread(self) -> int | None:
        """Ask the pipe. Only Linux answers at this end."""
        return _asked(self.descriptor, "FIONREAD") if sys.platform == "linux" else None

    def close(self) -> None:
        """Leave it as it was."""
        os.set_blocking(self.descriptor, self._was_blocking)


def _asked(descriptor: int, question: str) -> int | None:
    """Return a number that the system knows of a descriptor, None if it does not."""
    try:
        import fcntl
        import termios

        answer = fcntl.ioctl(descriptor, getattr(termios, question), b"\0" * 4)
    except (ImportError, AttributeError, OSError):
        return None
    return int.from_bytes(answer, sys.byteorder)


def open_writer(descriptor: int) -> DescriptorWriter:
    """The way to write that suits a descriptor."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        return SocketWriter(descriptor)
    if not stat.S_ISFIFO(mode):
        return DescriptorWriter(descriptor)
    try:
        return ReopenedPipeWriter(descriptor)
    except OSError:
        return SharedPipeWriter(descriptor)
