"""Secrets from environment variables."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pegboard.plugin import Plugin, SecretStore, hookimpl


class SecretsEnvPlugin(Plugin):
    """A store of secrets."""

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        return [EnvironmentStore()]


class EnvironmentStore(SecretStore):
    """A store of the process's current environment variables."""

    name = "secrets_env"

    def get(self, name: str) -> str | None:
        return os.environ.get(name)

    def hint(self, name: str) -> str:
        return "in the environment"
