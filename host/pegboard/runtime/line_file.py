"""A file to which lines are appended, such as a log."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import Lock


class LineFile:
    """Appends lines to a file, each with one write. New files have mode 0600.

    If the file is moved or removed, for example by logrotate, it is created again. Several processes may share one
    file.

    Args:
        path: the path of the file.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._torn = False
        self._descriptor = self._open()

    def write(self, line: bytes, *, sync: bool = False) -> None:
        """Append a line. May be called from any thread.

        Args:
            line: the line without a line break.
            sync: True to wait until the disk has the line (fsync).

        Raises:
            OSError: the line was not written, or only in part. The next call starts on a new line.
        """
        with self._lock:
            self._follow()
            data = b"%b%b\n" % (b"\n" if self._torn else b"", line)
            written = os.write(self._descriptor, data)
            self._torn = written < len(data)
            if self._torn:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def _open(self) -> int:
        # a pipe without reader must not block
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        return os.open(self._path, flags, 0o600)

    def _follow(self) -> None:
        """Open the file again if its path no longer refers to the open file."""
        try:
            if self._descriptor >= 0 and os.path.samestat(os.stat(self._path), os.fstat(self._descriptor)):
                return
        except FileNotFoundError:
            pass
        descriptor = self._open()
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = descriptor
        self._torn = False
