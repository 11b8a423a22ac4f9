"""Reading and writing of `pegboard.lock`, which is beside the configuration file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from pegboard_plugins.operation.lock.catalogue_lock import CatalogueLock, LockFileError
from pegboard_plugins.operation.lock.lock_parsing import parse_lock
from pegboard_plugins.support.secret_files import others_can_change

LOCK_FILE_NAME = "pegboard.lock"
MAX_LOCK_BYTES = 64 * 1024 * 1024
"""The maximum size of a lock file."""
RESTORE = "restore the file, or remove it and run `pegboard lock`"


def lock_path(directory: str | Path | None) -> Path:
    """Return the path of the lock file.

    Args:
        directory: the directory of the configuration file; None without a configuration file.

    Raises:
        LockFileError: no configuration file is in use.
    """
    if directory is None:
        fix = "create hostconfig.toml, or name a file with --config"
        raise LockFileError(f"{LOCK_FILE_NAME} must be beside a configuration file, but the host uses none: {fix}")
    return Path(directory) / LOCK_FILE_NAME


def read_lock(directory: str | Path | None) -> CatalogueLock:
    """Return the lock beside the configuration file. Any problem with it is an error, so that the host fails closed.

    Args:
        directory: the directory of the configuration file, as in `PluginContext`.

    Raises:
        LockFileError: the lock is missing, other users could change it, or it cannot be read.
    """
    path = lock_path(directory)
    if not path.exists():
        raise LockFileError(f"{path} does not exist: create it with `pegboard lock`")
    data = _data(path)
    if len(data) > MAX_LOCK_BYTES:
        raise LockFileError(f"{path} has more than {MAX_LOCK_BYTES:,} bytes; {RESTORE}")
    try:
        return parse_lock(data)
    except LockFileError as error:
        raise LockFileError(f"{path} {error}; {RESTORE}") from None


def _data(path: Path) -> bytes:
    """Return the bytes of a lock, up to one more than the maximum size.

    Raises:
        LockFileError: the file cannot be read, is not a regular file, or other users could change it.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            data, risk = file.read(MAX_LOCK_BYTES + 1), others_can_change(path, status)
    except OSError as error:
        raise LockFileError(f"{path} cannot be read: {error.strerror}") from None
    if risk is not None:
        raise LockFileError(f"{path} is refused because {risk}; change its owner or permissions")
    return data


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def write_lock(lock: CatalogueLock, path: Path, configuration: Path | None) -> None:
    """Write a lock. A new file gets the permissions and the owner of the configuration file.

    Raises:
        LockFileError: the file cannot be written.
    """
    from pegboard_plugins.operation.lock.lock_text import lock_text  # only one command writes
    from pegboard_plugins.support.secret_files import replace_file

    try:
        replace_file(path, lock_text(lock), like=None if path.exists() else configuration)
    except OSError as error:
        raise LockFileError(f"{path} cannot be written: {error.strerror}") from error
