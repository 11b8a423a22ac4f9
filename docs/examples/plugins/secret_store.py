"""A secret store that reads a JSON file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationInfo, field_validator

from pegboard import PluginConfig
from pegboard.plugin import Plugin, SecretStore, decode, hookimpl


class SecretsJsonConfig(PluginConfig):
    """The settings in `[plugins.secrets_json]`."""

    file: Path

    @field_validator("file")
    @classmethod
    def _resolve(cls, file: Path, info: ValidationInfo) -> Path:
        return cls.folder_of(info) / file  # a relative path begins at the configuration file


class SecretsJsonStore(SecretStore):
    """The secrets in one file."""

    name = "secrets_json"

    def __init__(self, file: Path) -> None:
        self._file = file

    def get(self, name: str) -> str | None:
        """Return a secret, None if the file does not have it."""
        value = decode(self._file.read_bytes()).get(name)
        return value if isinstance(value, str) else None

    def hint(self, name: str) -> str:
        """Return the way to set a secret."""
        return f"in {self._file}"


class SecretsJsonPlugin(Plugin[SecretsJsonConfig]):
    """Enabled by `[plugins.secrets_json]`."""

    Config = SecretsJsonConfig

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        """Return the store."""
        return [SecretsJsonStore(self.config.file)]
