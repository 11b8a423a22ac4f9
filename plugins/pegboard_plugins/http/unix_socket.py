"""A Unix socket's file: made for its owner alone, taken over from a process that is gone, never from one that lives.

And which user is at the other end of a connection to it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
import struct
from contextlib import suppress
from pathlib import Path


def is_own_peer(transport: asyncio.BaseTransport) -> bool:
    """Return whether the program at the other end runs as this process's user, as the kernel says (`SO_PEERCRED`)."""
    peer, option = transport.get_extra_info("socket"), getattr(socket, "SO_PEERCRED", None)
    if peer is None or option is None:
        return False  # other systems have other ways; there the operator token remains
    try:
        _, user, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    except OSError:
        return False
    return bool(user == os.geteuid())


class UnixSocket:
    """The file of one socket.

    Args:
        path: where it is.
        mode: its permissions; there is no moment at which it has others.
    """

    def __init__(self, path: Path, mode: int) -> None:
        self._path = path
        self._mode = mode
        self._made: tuple[int, int] | None = None

    def bind(self) -> socket.socket:
        """The socket, bound and not yet listening; nobody can connect before it listens.

        Raises:
            OSError: the path cannot be had; EADDRINUSE when somebody listens there, or when it is no socket.
        """
        self._clear()
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            bound.bind(str(self._path))
            self._path.chmod(self._mode)
            self._made = self._identity()
        except BaseException:
            bound.close()
            raise
        return bound

    def remove(self) -> None:
        """Remove the file, if it is still the one that was made."""
        with suppress(OSError):
            if self._made is not None and self._identity() == self._made:
                self._path.unlink()

    def _identity(self) -> tuple[int, int]:
        found = self._path.lstat()
        return found.st_dev, found.st_ino

    def _clear(self) -> None:
        try:
            if not stat.S_ISSOCK(self._path.lstat().st_mode):
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        except FileNotFoundError:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1)
            try:
                probe.connect(str(self._path))
            except ConnectionRefusedError:
                self._path.unlink()  # nobody listens any more
                return
            except (TimeoutError, BlockingIOError):
                pass  # somebody listens and is busy
        raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
