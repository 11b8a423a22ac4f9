"""Secrets from files: the file that the variable `NAME_FILE` names, or the file `NAME` in a folder of secrets."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import ValidationInfo, field_validator

from pegboard import PluginConfig
from pegboard.plugin import Plugin, SecretStore, WidensAccess, WritableSecretStore, hookimpl

MAX_SECRET_BYTES = 64 * 1024
"""The maximum size of a secret."""

logger = logging.getLogger("pegboard.plugins.secrets_files")


class SecretsFilesConfig(PluginConfig):
    """`[plugins.secrets_files]`.

    Attributes:
        directory: a folder with a file for each secret, of its name, such as "/run/secrets"; relative to the
            configuration file.
    """

    directory: Annotated[str | None, WidensAccess("gives files of this folder to tools as secrets")] = None

    @field_validator("directory")
    @classmethod
    def _check_exists(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is None:
            return None
        path = Path(cls.folder_of(info), Path(name).expanduser())
        if not path.is_dir():
            raise ValueError(f"the folder {path} does not exist")
        return str(path)


class SecretsFilesPlugin(Plugin):
    """A store of secrets."""

    Config = SecretsFilesConfig

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        return [FileStore(self.config.directory)]


class FileStore(WritableSecretStore):
    """A store that reads the file of a secret for each request. Line breaks at the end are removed.

    Args:
        directory: the folder of secrets, or None for none.
    """

    name = "secrets_files"

    def __init__(self, directory: str | None = None) -> None:
        self._directory = None if directory is None else Path(directory)
        self.files_read: list[str] = []

    def get(self, name: str) -> str | None:
        """Return the content of the file that `NAME_FILE` names, or of the file in the folder."""
        variable = f"{name}_FILE"
        if named := os.environ.get(variable):
            return self._read(Path(named).expanduser(), f"{named}, which {variable} names,")
        path = self._find_in_folder(name)
        return None if path is None else self._read(path, str(path))

    def _read(self, path: Path, called: str) -> str | None:
        value = _read(path, called)
        if value is not None:
            self.files_read.append(str(path))
        return value

    def hint(self, name: str) -> str:
        named = f"in a file that {name}_FILE names"
        return named if self._directory is None else f"{named}, in the file {self._directory / name}"

    def set(self, name: str, value: str) -> str:
        """Write the file of a secret in the folder, and return its path.

        Raises:
            ValueError: there is no folder, or a file cannot hold this name or value.
            OSError: the file cannot be written.
        """
        from pegboard_plugins.support.secret_files import replace_file

        path = self._own_file(name)
        if len(value.encode()) > MAX_SECRET_BYTES or value.rstrip("\r\n") != value or value.startswith("\ufeff"):
            raise ValueError(f"a secret has up to {MAX_SECRET_BYTES} bytes, and does not end with a line break")
        replace_file(path, value.encode())
        return str(path)

    def unset(self, name: str) -> bool:
        """Remove the file of a secret from the folder. Return False if it does not exist.

        Raises:
            ValueError: there is no folder.
            OSError: the file cannot be removed.
        """
        if self._find_in_folder(name) is None:
            return False
        self._own_file(name).unlink()
        return True

    def _own_file(self, name: str) -> Path:
        if self._directory is None:
            raise ValueError("there is no folder of secrets: name one in [plugins.secrets_files] directory")
        path = self._directory / name
        if not name.isprintable() or Path(name).name != name or path.is_symlink():
            raise ValueError("no file in the folder of secrets can have this name")
        return path

    def _find_in_folder(self, name: str) -> Path | None:
        """Return the file in the folder, or None if the file is missing. Ignore links that lead out of the folder."""
        if self._directory is None or Path(name).name != name:
            return None
        try:
            path = (self._directory / name).resolve(strict=True)
            inside = path.is_relative_to(self._directory.resolve())
        except (OSError, ValueError):  # the file does not exist, or the name is invalid
            return None
        if not inside:
            logger.warning("%s is not used: it leads out of %s", self._directory / name, self._directory)
            return None
        return path


def _read(path: Path, called: str) -> str | None:
    try:
        text, mode = _read_text(path)
    except OSError as error:
        reason = str(error.strerror)
    except ValueError as error:
        reason = str(error)
    else:
        _log_permissions(called, mode)
        return text
    logger.warning("%s cannot be read, so its secrets are missing: %s", called, reason)
    return None


def _read_text(path: Path) -> tuple[str, int]:
    """Return the content and the permissions of a file.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file does not contain a secret. The message does not contain the content.
    """
    if "\0" in str(path):
        raise ValueError("the path is invalid")
    with open(path, "rb", opener=_open_nonblocking) as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError("it is not a regular file")
        data = file.read(MAX_SECRET_BYTES + 1)
    if len(data) > MAX_SECRET_BYTES:
        raise ValueError(f"it has more than {MAX_SECRET_BYTES} bytes")
    try:
        return data.decode("utf-8-sig").rstrip("\r\n"), mode
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None


def _open_nonblocking(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _log_permissions(called: str, mode: int) -> None:
    if mode & stat.S_IWOTH:
        logger.warning(
            "%s contains a secret, but every user of this machine can write to it: restrict its permissions", called
        )
    elif mode & stat.S_IROTH:
        logger.info(
            "%s contains a secret, but every user of this machine can read it: restrict its permissions", called
        )
