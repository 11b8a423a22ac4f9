"""The contract of secret stores, for the built-in stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegboard.plugin import SecretStore
from pegboard_plugins.secrets.secrets_dotenv import DotenvStore
from pegboard_plugins.secrets.secrets_env import EnvironmentStore
from pegboard_plugins.secrets.secrets_files import FileStore
from pegboard_plugins.secrets.secrets_keyring import KeyringStore
from pegboard_testing import SecretStoreContract, WritableSecretStoreContract
from tests.plugins.secrets.conftest import Memory


class TestEnvironment(SecretStoreContract):
    @pytest.fixture(autouse=True)
    def variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in self.secrets.items():
            monkeypatch.setenv(name, value)

    def make(self) -> SecretStore:
        return EnvironmentStore()


class TestDotenv(WritableSecretStoreContract):
    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path) -> None:
        self.path = tmp_path / ".env"
        quoted = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in self.secrets.items()}
        self.path.write_text("".join(f"{name}='{value}'\n" for name, value in quoted.items()))

    def make(self) -> SecretStore:
        return DotenvStore(str(self.path))


class TestFiles(WritableSecretStoreContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tmp_path
        for name, value in self.secrets.items():
            (tmp_path / name).write_text(f"{value}\n")

    def make(self) -> SecretStore:
        return FileStore(str(self.path))


class TestKeyring(WritableSecretStoreContract):
    @pytest.fixture(autouse=True)
    def passwords(self, memory: Memory) -> None:
        for name, value in self.secrets.items():
            memory.set_password("pegboard", name, value)

    def make(self) -> SecretStore:
        return KeyringStore("pegboard", 10)
