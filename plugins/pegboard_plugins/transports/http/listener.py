"""A listening socket that refuses connections while the process has no free file descriptor.

asyncio's event loop would try `backlog` times to accept a connection, log each failure with a traceback, and do all
of this again for each failure.
"""

from __future__ import annotations

import errno
import os
import socket
from typing import Any

from pegboard_plugins.support.refusal_log import RefusalLog

_FULL = frozenset((errno.EMFILE, errno.ENFILE))
_NO_DESCRIPTOR = "a connection, as no file descriptor is free: raise the limit of the process (ulimit -n)"
_AUDIT = RefusalLog()


class Listener(socket.socket):
    """The socket. It keeps a spare descriptor, and uses it to accept a connection and close it.

    Args:
        bound: the socket to replace. It is detached.
    """

    __slots__ = ("_fails_next", "_spare")

    def __init__(self, bound: socket.socket) -> None:
        super().__init__(fileno=bound.detach())
        self._spare = _opened()
        self._fails_next = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            BlockingIOError: there is no connection, or it was refused.
            OSError: even the spare descriptor is in use. The event loop tries again after a second.
        """
        if self._fails_next:
            self._fails_next = False
            raise BlockingIOError
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in _FULL:
                raise
            if self._spare is None:
                self._spare = _opened()
                self._fails_next = True  # the event loop calls again at once
                raise
        self._refuse(self._spare)
        raise BlockingIOError

    def _refuse(self, spare: int) -> None:
        os.close(spare)
        try:
            super().accept()[0].close()
            _AUDIT.refused(_NO_DESCRIPTOR)  # while a descriptor is free, as the log may import modules
        finally:
            self._spare = _opened()

    def close(self) -> None:
        """Close the socket and the spare descriptor."""
        super().close()
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None


def _opened() -> int | None:
    """Return a new descriptor, or None if none is free."""
    try:
        return os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return None
