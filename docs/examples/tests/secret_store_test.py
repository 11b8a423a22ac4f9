"""The rules of secret stores."""

import json
from pathlib import Path

import pytest

from docs.examples.plugins.secret_store import SecretsJsonPlugin, SecretsJsonStore
from pegboard.plugin import SecretStore
from pegboard_testing import SecretStoreContract, connect


class TestSecretStore(SecretStoreContract):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.file = tmp_path / "secrets.json"

    def make(self) -> SecretStore:
        self.file.write_text(json.dumps(dict(self.secrets)), "utf-8")
        return SecretsJsonStore(self.file)


def test_the_host_accepts_the_plugin() -> None:
    with connect(SecretsJsonPlugin, config={"file": "secrets.json"}) as client:
        assert client.problems == ()
