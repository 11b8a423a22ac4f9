"""The file of a Unix socket, and the user of the process that connects.

Only the owner can access the created file. The file of a dead process is replaced, the file of a live process is not.
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
    """Return True if the peer runs as this process's user. The kernel reports the user (`SO_PEERCRED`)."""
    peer, option = transport.get_extra_info("socket"), getattr(socket, "SO_PEERCRED", None)
    if peer is None or option is None:
        return False  # on other systems the operator token remains
    try:
        _, user, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    except OSError:
        return False
    return bool(user == os.geteuid())


class UnixSocket:
    """The file of one socket.

    Args:
        path: the path of the file.
        mode: the permissions of the file, from its creation on.
    """

    def __init__(self, path: Path, mode: int) -> None:
        self._path = path
        self._mode = mode
        self._made: tuple[int, int] | None = None

    def bind(self) -> socket.socket:
        """Return the bound socket. Clients can connect when it listens.

        Raises:
            OSError: the path cannot be used; EADDRINUSE if another process listens there, or if the file is not a
                socket; EAFNOSUPPORT on Windows.
        """
        if not hasattr(socket, "AF_UNIX"):
            why = "Python has no Unix sockets on this system; remove [plugins.http] socket, and set host and port"
            raise OSError(errno.EAFNOSUPPORT, why)
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
        """Remove the file, unless another process has replaced it."""
        with suppress(OSError):
            if self._made is not None and self._identity() == self._made:
                self._path.unlink()

    def _identity(self) -> tuple[int, int]:
        status = self._path.lstat()
        return status.st_dev, status.st_ino

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
                self._path.unlink()  # no process listens there
                return
            except (TimeoutError, BlockingIOError):
                pass  # a busy process listens there
        raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
