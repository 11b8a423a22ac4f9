"""Secrets from a file of `KEY=value` lines: the `.env` beside the configuration file, or a configured file.

No other folder is searched, because other users may control the working directory.
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
from pegboard.plugin import Plugin, PluginContext, SecretStore, WidensAccess, hookimpl, others_can_change

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
        found = Path(context.directory, ".env") if context.directory else None
        return [DotenvStore(self.config.file or found, named=self.config.file is not None)]


class DotenvStore:
    """A store that reads a file once, for the first secret.

    Args:
        file: the file, None for no secrets.
        named: True if the operator named the file. Another file may be missing, and is refused if other users can
            change it.
    """

    name = "secrets_dotenv"

    def __init__(self, file: str | Path | None, *, named: bool = True) -> None:
        self._file = None if file is None else Path(file)
        self._named = named
        self.files_read: list[Path] = []

    def get(self, name: str) -> str | None:
        """Return the value of a key."""
        return self._values.get(name)

    def hint(self, name: str) -> str:
        """Return how to set a secret here."""
        if self._named:
            return f"in {self._file}"
        return "in .env" if self._file else "in a .env beside the configuration file that you name"

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
            risk = others_can_change(path, os.fstat(file.fileno()))
            if risk and not self._named:
                advice = "Change its owner or permissions, or name it in [plugins.secrets_dotenv] file"
                logger.warning("%s is not used: %s. %s", path, risk, advice)
                return {}
            if risk:
                logger.warning("%s: %s. Change its owner or permissions", path, risk)
            from dotenv import dotenv_values

            self.files_read.append(path)
            return dotenv_values(stream=file, interpolate=False)  # secrets may contain ${...}
