"""Secrets from the variables of the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pegboard.plugin import Plugin, SecretStore, hookimpl


class SecretsEnvPlugin(Plugin):
    """One store of secrets."""

    @hookimpl
    def register_secret_stores(self) -> Iterable[SecretStore]:
        """The environment."""
        return [EnvironmentStore()]


class EnvironmentStore:
    """Variables of the process, as they are when a secret is looked up."""

    name = "secrets_env"

    def get(self, name: str) -> str | None:
        """The variable of that name."""
        return os.environ.get(name)

    def hint(self, name: str) -> str:
        """How to set a secret here."""
        return "in the environment"
