"""Secrets from a file of `KEY=value` lines: the `.env` beside the configuration file, or a configured file.

Without a configuration file it is the `.env` of a trusted folder, or that of the user's configuration directory. No
other file is read, because other users may control the working directory.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import ValidationInfo, field_validator

from pegboard import PluginConfig
from pegboard.plugin import Plugin, PluginContext, SecretStore, StateFiles, WidensAccess, WritableSecretStore, hookimpl

logger = logging.getLogger("pegboard.plugins.secrets_dotenv")


class SecretsDotenvConfig(PluginConfig):
    """`[plugins.secrets_dotenv]`.

    Attributes:
        file: the file to read instead of the `.env` beside the configuration file. A relative path is relative to the
            configuration file.
    """

    file: Annotated[str | None, WidensAccess("gives lines of this file to tools as secrets")] = None

    @field_validator("file")
    @classmethod
    def _check_exists(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is None:
            return None
        path = Path(cls.folder_of(info), Path(name).expanduser())
        if not path.is_file():
            raise ValueError(f"the file {path} does not exist")
        return str(path)


class SecretsDotenvPlugin(Plugin):
    """A store of secrets."""

    Config = SecretsDotenvConfig

    @hookimpl
    def register_secret_stores(self, context: PluginContext) -> Iterable[SecretStore]:
        """Return the store of one file."""
        if self.config.file is not None:
            return [DotenvStore(self.config.file)]
        file = context.find_file(".env")
        return [DotenvStore(file.path, named=False, unread=file.unread)]


class DotenvStore(WritableSecretStore):
    """A store that reads a file once, for the first secret.

    Args:
        file: the file, or None for no secrets.
        named: True if the operator named the file. Another file may be missing, and is refused if other users can
            change it.
        unread: a file that was found and must not be read, for messages.
    """

    name = "secrets_dotenv"

    def __init__(self, file: str | Path | None, *, named: bool = True, unread: str | None = None) -> None:
        self._file = None if file is None else Path(file)
        self._named = named
        self._unread = unread
        self.files_read: list[str] = []

    def get(self, name: str) -> str | None:
        return self._values.get(name)

    def hint(self, name: str) -> str:
        if self._unread is not None:
            import shlex

            command = f"pegboard config trust {shlex.quote(os.path.dirname(self._unread))}"
            return f"in {self._unread} (found, but not read until you run `{command}`)"
        return f"in {self._file}" if self._file else "in a .env beside the configuration file that you name"

    def set(self, name: str, value: str) -> str:
        """Set a key and return the path of the file. Other lines stay.

        Raises:
            ValueError: there is no file, or it cannot hold this name or value.
            OSError: the file cannot be written.
        """
        if not (name.isascii() and name.isidentifier()):
            raise ValueError("a name in a .env file has letters, digits and _ only")
        self._write(name, value)
        return str(self._file)

    def unset(self, name: str) -> bool:
        """Remove a key. Return False if the file does not have it.

        Raises:
            ValueError: there is no file.
            OSError: the file cannot be written.
        """
        return self._file is not None and name in self._values and self._write(name, None)

    def _write(self, name: str, value: str | None) -> bool:
        from io import StringIO

        from dotenv import dotenv_values
        from dotenv.parser import parse_stream

        from pegboard_plugins.support.secret_files import replace_file

        path = self._file
        if path is None:
            raise ValueError("the .env belongs beside a configuration file: name one with --config")
        text = _text_of(path) if path.exists() else ""
        risk = StateFiles.others_can_change(path, path.stat()) if path.exists() else None
        if risk and not self._named:
            raise ValueError(f"{path}: {risk}: change its owner or permissions")
        line = "" if value is None else f"{name}={_quoted(value)}\n"
        parts: list[str] = []
        for binding in parse_stream(StringIO(text, newline="")):
            if binding.key == name:
                parts, line = [*parts, line], ""  # the last of several lines counts, so that they become one
            else:
                parts.append(binding.original.string)
        if line and parts and not parts[-1].endswith(("\n", "\r")):
            parts.append("\n")
        changed = "".join([*parts, line])
        if dotenv_values(stream=StringIO(changed, newline=""), interpolate=False).get(name) != value:
            raise ValueError("a .env file cannot hold this value")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, changed.encode())
        self.__dict__.pop("_values", None)
        return True

    @cached_property
    def _values(self) -> Mapping[str, str | None]:
        try:
            return {} if self._file is None else self._read(self._file)
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            logger.warning("%s cannot be read, so its secrets are missing: %s", self._file, reason)
            return {}

    def _read(self, path: Path) -> Mapping[str, str | None]:
        if not path.is_file():  # a folder or a pipe
            return {}
        with path.open(encoding="utf-8") as file:
            risk = StateFiles.others_can_change(path, os.fstat(file.fileno()))
            if risk and not self._named:
                advice = "Change its owner or permissions, or name it in [plugins.secrets_dotenv] file"
                logger.warning("%s is not used: %s. %s", path, risk, advice)
                return {}
            if risk:
                logger.warning("%s: %s. Change its owner or permissions", path, risk)
            from dotenv import dotenv_values

            self.files_read.append(str(path))
            return dotenv_values(stream=file, interpolate=False)  # secrets may contain ${...}


def _text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        ValueError: it is not a regular file, or not UTF-8.
        OSError: it cannot be read.
    """
    if not path.is_file():  # reading a pipe would wait
        raise ValueError(f"{path} is not a regular file: move it away")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8: save it in this encoding") from None


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
