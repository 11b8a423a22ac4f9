"""Files that contain secrets: their replacement, and whether other users can read them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def is_readable_by_others(path: Path) -> bool:
    """Return True if other users can read an existing file. Windows has no such permissions.

    Raises:
        OSError: the file does not exist.
    """
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def create_private_file(path: Path, refused: type[Exception]) -> None:
    """Create a file with mode 0600, and its folder, unless they exist.

    Args:
        path: the file.
        refused: the class of the error if other users can read the file.

    Raises:
        OSError: the file cannot be created.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise refused(f"other users can read {path}: change its mode with chmod 600")


def replace_file(path: Path, content: bytes, *, like: Path | None = None) -> None:
    """Replace a file atomically. It keeps its permissions and its owner, and only its owner can read a new file.

    Args:
        path: the file. If it is a symbolic link, its target is replaced.
        content: the new content.
        like: take the permissions and the owner of this file instead.

    Raises:
        OSError: the file cannot be written. It is unchanged then.
    """
    import tempfile  # few commands write files

    target = Path(os.path.realpath(path))  # `resolve` raises RuntimeError for a link to itself
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            status = (like or target).stat()
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
            if os.name == "posix" and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(temporary, status.st_uid, status.st_gid)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
