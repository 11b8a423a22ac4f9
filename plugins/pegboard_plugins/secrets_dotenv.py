"""Secrets from a file of `KEY=value` lines: the nearest `.env`, or one that is configured.

The nearest is looked for in the working directory and upward, no further than the nearest folder with a
`pyproject.toml`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import ValidationInfo, field_validator

from pegboard import Plugin, PluginConfig, SecretStore, Widens, hookimpl

logger = logging.getLogger("pegboard.plugins.secrets_dotenv")


class SecretsDotenvConfig(PluginConfig):
    """`[plugins.secrets_dotenv]`.

    Attributes:
        file: the file to read instead of the nearest `.env`. A relative path is relative to the configuration file.
    """

    file: Annotated[str | None, Widens("gives lines of this file to tools as secrets")] = None

    @field_validator("file")
    @classmethod
    def _is_there(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is None:
            return None
        path = Path((info.context or {}).get("directory", Path()), Path(name).expanduser())
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        return str(path)


class SecretsDotenvPlugin(Plugin):
    """One store of secrets."""

    Config = SecretsDotenvConfig

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        """The file."""
        return [DotenvStore(self.config.file)]


class DotenvStore:
    """Looks secrets up in a file, which is read once, for the first secret.

    Args:
        file: the file; None for the nearest `.env`.
    """

    name = "secrets_dotenv"

    def __init__(self, file: str | None = None) -> None:
        self._file = file

    def get(self, name: str) -> str | None:
        """The value of that key."""
        return self._values.get(name)

    def hint(self, name: str) -> str:
        """How to set a secret here."""
        return f"in {self._file or '.env'}"

    @cached_property
    def _values(self) -> Mapping[str, str | None]:
        path: Path | str = "the nearest .env"
        try:
            found = find_env_file(Path.cwd()) if self._file is None else Path(self._file)
            if found is None:
                return {}
            from dotenv import dotenv_values

            path = found
            return dotenv_values(path, interpolate=False)  # a secret may hold what looks like a variable
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            logger.warning("%s cannot be read, so no secret comes from it: %s", path, reason)
            return {}


def find_env_file(start: Path) -> Path | None:
    """The nearest `.env` in a folder or above it, no further than the nearest one with a `pyproject.toml`."""
    for folder in (start, *start.parents):
        if (folder / ".env").is_file():
            return folder / ".env"
        if (folder / "pyproject.toml").is_file():
            return None
    return None
