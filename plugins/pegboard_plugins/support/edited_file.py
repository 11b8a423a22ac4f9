"""Configuration files that a command edits: reading, backup, and replacement as a whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from pegboard import MCPError
from pegboard_plugins.support.secret_files import replace_file

BACKUP_SUFFIX = ".pegboard-backup"
MAX_FILE_BYTES = 16 * 1024 * 1024


class EditedFileError(MCPError):
    """The file cannot be read, understood or written."""


class EditedFile(NamedTuple):
    """A file at the time of reading.

    Attributes:
        path: the file. Symbolic links are resolved.
        text: its content, or None if it does not exist.
    """

    path: Path
    text: str | None

    @property
    def backup(self) -> Path:
        """The copy of the file before the first change."""
        return self.path.with_name(self.path.name + BACKUP_SUFFIX)


def read_edited_file(named: Path, option: str = "--path") -> EditedFile:
    """Read a file, which need not exist.

    Args:
        named: the path of the file.
        option: the option that names another file, for messages.

    Raises:
        EditedFileError: it cannot be read, or it is not UTF-8.
    """
    try:
        path = named.expanduser().resolve()
        if not path.exists():
            return EditedFile(path, None)
        if not path.is_file():
            raise EditedFileError(f"{path} is not a file: name the file with {option}")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise EditedFileError(f"{path} has more than {MAX_FILE_BYTES} bytes: edit it by hand")
        return EditedFile(path, path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError:
        raise EditedFileError(f"{named} is not UTF-8: save it as UTF-8") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, in Python before 3.13
        raise EditedFileError(f"{named} cannot be read: {_reason(error)}") from None


def check_writable(file: EditedFile, *, makes_folder: bool = False) -> None:
    """Check that a file can be replaced.

    Args:
        file: the file.
        makes_folder: True if the folder of the file will be created.

    Raises:
        EditedFileError: the file is read-only, or its folder is missing or read-only.
    """
    folder = file.path.parent
    if makes_folder and not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise EditedFileError(f"the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise EditedFileError(f"the folder {folder} is read-only: change its permissions")
    if file.text is not None and not (os.access(file.path, os.W_OK) and file.path.stat().st_mode & 0o222):
        raise EditedFileError(f"{file.path} is read-only: change its permissions")


def replace(file: EditedFile, text: str | None, *, back_up: bool = False, makes_folder: bool = False) -> None:
    """Replace the content of a file as a whole, and keep its permissions. None removes the file.

    Args:
        file: the file as it was read.
        text: the new content.
        back_up: store the old content in the backup first.
        makes_folder: make the folder of the file if it is missing.

    Raises:
        EditedFileError: the file has changed since it was read, or it cannot be written. The file is then unchanged.
    """
    check_writable(file, makes_folder=makes_folder)
    try:
        if makes_folder:
            file.path.parent.mkdir(exist_ok=True)
        if back_up and file.text is not None:
            replace_file(file.backup, file.text.encode(), like=file.path)
        if read_edited_file(file.path).text != file.text:
            raise EditedFileError(f"{file.path} has changed meanwhile: run the command again")
        if text is None:
            file.path.unlink()
        else:
            replace_file(file.path, text.encode())
    except OSError as error:
        raise EditedFileError(f"{file.path} cannot be written: {_reason(error)}") from None


def _reason(error: OSError | RuntimeError) -> str:
    return getattr(error, "strerror", None) or str(error)
