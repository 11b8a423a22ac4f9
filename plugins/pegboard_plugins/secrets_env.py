"""Secrets from environment variables, and from the nearest `.env` file for those that the environment does not have.

The file is looked for in the working directory and upward, no further than the nearest folder with a `pyproject.toml`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from pydantic import ValidationInfo, field_validator

from pegboard import Plugin, PluginConfig, SecretStore, hookimpl

RESERVED = frozenset(("ARCADE_API_KEY", "ARCADE_WORKER_SECRET"))
"""Secrets of the host itself, which no tool may read; nor may it read what begins with one of `RESERVED_PREFIXES`."""
RESERVED_PREFIXES = ("MCP_", "PEGBOARD_", "_")

logger = logging.getLogger("pegboard.plugins.secrets_env")


class SecretsEnvConfig(PluginConfig):
    """`[plugins.secrets_env]`.

    Attributes:
        env_file: a file of `KEY=value` lines instead of the nearest `.env`; "" for none. A relative path is relative to
            the configuration file.
    """

    env_file: str | None = None

    @field_validator("env_file")
    @classmethod
    def _is_there(cls, name: str | None, info: ValidationInfo) -> str | None:
        if not name:
            return name
        directory = (info.context or {}).get("directory", Path())
        path = Path(directory, Path(name).expanduser())
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        return str(path)


class SecretsEnvPlugin(Plugin):
    """One store of secrets."""

    Config = SecretsEnvConfig

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        """The environment, then the file."""
        return [EnvironmentStore(self.config.env_file)]


class EnvironmentStore:
    """Looks secrets up by name; reads the file when the first secret is not in the environment.

    Args:
        env_file: the file; None for the nearest `.env`, "" for none.
    """

    name = "secrets_env"

    def __init__(self, env_file: str | None = None) -> None:
        self._env_file = env_file

    def get(self, name: str) -> str | None:
        """The secret of that name; an empty one counts as missing."""
        if name.upper() in RESERVED or name.upper().startswith(RESERVED_PREFIXES):
            return None
        return os.environ.get(name) or self._file.get(name) or None

    @cached_property
    def _file(self) -> Mapping[str, str | None]:
        if self._env_file == "":
            return {}
        path: Path | str = "the nearest .env"
        try:
            found = find_env_file(Path.cwd()) if self._env_file is None else Path(self._env_file)
            if found is None:
                return {}
            from dotenv import dotenv_values

            path = found
            return dotenv_values(path)
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
