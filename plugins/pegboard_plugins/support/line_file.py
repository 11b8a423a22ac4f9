"""A file to which lines are appended, such as a log."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import Lock

# a pipe without reader must not block
_FLAGS = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class LineFile:
    """Appends lines to a file, each with one write. New files have mode 0600.

    The file is opened for each line. If it is moved or removed, for example by logrotate, it is created again. Several
    processes may share one file.

    Args:
        path: the path of the file.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._torn = False
        os.close(self._open())

    def write(self, line: bytes, *, sync: bool = False) -> None:
        """Append a line. May be called from any thread.

        Args:
            line: the line without a line break.
            sync: True to wait until the disk has the line (fsync).

        Raises:
            OSError: the line was not written, or only in part. The next call starts on a new line.
        """
        with self._lock:
            data = b"%b%b\n" % (b"\n" if self._torn else b"", line)
            handle = self._open()
            try:
                self._torn = os.write(handle, data) < len(data)
                if self._torn:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                if sync:
                    os.fsync(handle)
            finally:
                os.close(handle)

    def _open(self) -> int:
        return os.open(self._path, _FLAGS | os.O_CREAT, 0o600)


def check_line_file(path: Path) -> None:
    """Check that `LineFile` can open or create a file, without creating it.

    Raises:
        OSError: it cannot.
    """
    try:
        os.close(os.open(path, _FLAGS))
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path)) from None
