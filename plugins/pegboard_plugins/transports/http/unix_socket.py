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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def bound_unix_socket(path: Path, mode: int) -> Iterator[socket.socket]:
    """Yield a bound socket. Clients can connect when it listens.

    At the end, remove its file, unless another process has replaced it.

    Args:
        path: the path of the file.
        mode: the permissions of the file, from its creation on.

    Raises:
        OSError: the path cannot be used; EADDRINUSE if another process listens there, or if the file is not a socket;
            EAFNOSUPPORT on Windows.
    """
    if not hasattr(socket, "AF_UNIX"):
        why = "Python has no Unix sockets on this system; remove [plugins.http] socket, and set host and port"
        raise OSError(errno.EAFNOSUPPORT, why)
    _clear(path)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.bind(str(path))
        path.chmod(mode)
        made = _identity(path)
    except BaseException:
        bound.close()
        raise
    try:
        yield bound
    finally:
        with suppress(OSError):
            if _identity(path) == made:
                path.unlink()


def _identity(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def _clear(path: Path) -> None:
    """Remove the file of a dead process."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()  # no process listens there
            return
        except (TimeoutError, BlockingIOError):
            pass  # a busy process listens there
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
