"""A configuration file while a command edits it: reading, and replacement as a whole."""

from __future__ import annotations

import os
from pathlib import Path

from pegboard import MCPError
from pegboard_plugins.support.secret_files import replace_file


class EditedFileError(MCPError):
    """The file cannot be read or written."""


class EditedFile:
    """The text of a file, which need not exist.

    Args:
        path: the file.

    Attributes:
        text: the text of the file, or "" if the file does not exist.

    Raises:
        EditedFileError: the file or its folder cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        self.text = self._read()
        self._check_writable()

    def replace(self, text: str) -> None:
        """Replace the content of the file. Its permissions are kept.

        Raises:
            EditedFileError: the file has changed since it was read, or it cannot be written. It is unchanged then.
        """
        self._check_writable()
        if self._read() != self.text:
            raise EditedFileError(f"{self._path} has changed meanwhile: run the command again")
        try:
            replace_file(self._path, text.encode())
        except OSError as error:
            raise EditedFileError(f"{self._path} cannot be written: {error.strerror}") from None

    def _read(self) -> str:
        try:
            if self._path.exists() and not self._path.is_file():
                raise EditedFileError(f"{self._path} is not a file: name a file with --config")
            return self._path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise EditedFileError(f"{self._path} is not UTF-8: save it as UTF-8") from None
        except OSError as error:
            raise EditedFileError(f"{self._path} cannot be read: {error.strerror}") from None

    def _check_writable(self) -> None:
        folder = self._path.parent
        if not os.access(folder, os.W_OK):
            raise EditedFileError(f"the folder {folder} is read-only: change its permissions")
        if self._path.exists() and not (os.access(self._path, os.W_OK) and self._path.stat().st_mode & 0o222):
            raise EditedFileError(f"{self._path} is read-only: change its permissions")
