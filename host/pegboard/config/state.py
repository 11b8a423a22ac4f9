"""The state directory: files that pegboard stores for its user between starts.

Only the owner can read the files. A file is replaced atomically, so that concurrent starts never read a partial file.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pegboard.config.files import others_can_change, without_waiting, xdg_directory

STATE_VARIABLE = "PEGBOARD_STATE_DIR"


class UnsafeStateError(PermissionError):
    """Other users can change the state directory, or know a secret in it. The message states the fix."""


class StateFiles:
    """The files that pegboard and its plugins store for the user of this process between starts.

    Only the user can read them.

    Args:
        environ: the variables that select the directory, such as `os.environ`.
    """

    others_can_change = staticmethod(others_can_change)

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    @property
    def directory(self) -> Path | None:
        """The directory, which need not exist; None if the user has no home directory.

        Raises:
            OSError: every user can write the directory. Other users could then place or replace files in it.
        """
        directory = self.location
        if directory is None or os.name != "posix":
            return directory
        try:
            mode = directory.stat().st_mode
        except OSError:  # it does not exist, or its use fails with a better message
            return directory
        if mode & stat.S_IWOTH:
            raise UnsafeStateError(
                f"every user can write the state directory {directory}: run chmod o-w {directory}, or set "
                f"{STATE_VARIABLE} to a directory of your own"
            )
        return directory

    @property
    def location(self) -> Path | None:
        """The path of the directory (XDG Base Directory 0.8), even if every user can write it.

        `PEGBOARD_STATE_DIR` selects another directory. Relative paths count as unset.
        """
        own = Path(self._environ.get(STATE_VARIABLE) or "")
        if own.is_absolute():
            return own
        on_mac = "Library/Application Support/pegboard/state"
        default = on_mac if sys.platform == "darwin" else ".local/state/pegboard"
        return xdg_directory(self._environ, "XDG_STATE_HOME", default)

    def probe(self) -> None:
        """Write and remove a file, if the directory exists and not every user can write it.

        Raises:
            OSError: the directory is not writable or full.
        """
        with suppress(UnsafeStateError):
            if self.directory is not None and self.directory.exists():
                with self._written("probe", b"probe\n", sync=True):
                    pass

    def create(self, name: str, content: bytes) -> bytes:
        """Return the secret in a file. If the file does not exist, create it with `content`.

        Concurrent callers all return the content of the file that was created first. A power failure does not lose a
        file that this method has created.

        Raises:
            OSError: the file can neither be read nor created, other users can read or change it, or the user has no
                home directory.
        """
        stored = self.read(name)
        if stored is None:
            with self._written(name, content, sync=True) as temporary:
                with suppress(FileExistsError):
                    os.link(temporary, temporary.parent / name)  # unlike a rename, this never replaces a file
                _sync_folder(temporary.parent)
            stored = self.read(name)
            assert stored is not None
        return stored

    def read(self, name: str, *, secret: bool = True) -> bytes | None:
        """Return the content of a file, or None if the file does not exist.

        Args:
            name: the name of the file.
            secret: False to accept a file that other users can read or change.

        Raises:
            OSError: the file cannot be read or is not a regular file, its owner is neither the user of this process nor
                root, or other users can read or change the secret.
        """
        directory = self.directory
        if directory is None:
            return None
        path = directory / name
        try:
            with open(path, "rb", opener=without_waiting) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise OSError(f"{path} is not a regular file")
                if os.name == "posix" and status.st_uid not in (0, os.geteuid()):
                    raise PermissionError(f"{path} belongs to another user")
                if secret and os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                    raise UnsafeStateError(
                        f"other users can read or change {path}: run chmod 600 {path}, or remove the file, "
                        "because they may know its content"
                    )
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes, *, sync: bool = True) -> None:
        """Create or replace a file. The directory gets mode 0700, the file 0600.

        Args:
            name: the name of the file.
            content: the content.
            sync: True to wait until the disk has the file (fsync). Otherwise the file may be empty after a power
                failure.

        Raises:
            OSError: the file cannot be written, or the user has no home directory.
        """
        with self._written(name, content, sync=sync) as temporary:
            os.replace(temporary, temporary.parent / name)
        if sync:
            _sync_folder(temporary.parent)

    def remove(self, name: str) -> bool:
        """Remove a file. Return False if it does not exist.

        Raises:
            OSError: the file cannot be removed.
        """
        directory = self.directory
        if directory is None:
            return False
        try:
            (directory / name).unlink()
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Hold a lock during a block. Yield False, without waiting, if another process holds the lock.

        Raises:
            OSError: the lock file cannot be created, or the user has no home directory.
        """
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        handle = os.open(self._made_directory() / f".{name}.lock", flags, 0o600)
        try:
            yield _locked(handle)
        finally:
            os.close(handle)

    def _made_directory(self) -> Path:
        directory = self.directory
        if directory is None:
            raise OSError(f"no home directory is set: set HOME or {STATE_VARIABLE}")
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return directory

    @contextmanager
    def _written(self, name: str, content: bytes, *, sync: bool) -> Iterator[Path]:
        """Create a temporary file in the directory. Remove the file at the end if it still exists."""
        directory = self._made_directory()
        handle, temporary = tempfile.mkstemp(dir=directory, prefix=f".{name}.")  # mode 0600 from the beginning
        try:
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    if sync:
                        file.flush()
                        os.fsync(file.fileno())
            except OSError as error:  # a full disk names no file
                raise OSError(error.errno, error.strerror, str(directory)) from error
            yield Path(temporary)
        finally:
            with suppress(OSError):
                os.unlink(temporary)


def path_and_reason(error: OSError) -> str:
    """Return the path and the reason of an error, without its number."""
    return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)


def _sync_folder(folder: Path) -> None:
    """Wait until the disk has the names of new files."""
    if os.name != "posix":
        return  # other systems cannot open folders
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems do not support it
            os.fsync(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return True  # Windows: the last of two processes that write wins
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True
