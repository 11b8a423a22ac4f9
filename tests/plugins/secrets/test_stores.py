"""The built-in stores of secrets together: their order, and secrets that belong to the host."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.config import HostConfig
from pegboard.loading.discovery import defaults
from pegboard.plugin import SecretStore
from pegboard_plugins.secrets.secrets_env import EnvironmentStore
from pegboard_testing import SecretStoreContract
from tests.host.hosting import plugin_of, value
from tests.plugins.secrets.conftest import reading_kit


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project in which each store has the secret."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".env").write_text("API_KEY=of .env\n")
    (tmp_path / "key").write_text("of the file\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("API_KEY", "of the environment")
    monkeypatch.setenv("API_KEY_FILE", str(tmp_path / "key"))
    return tmp_path


class Vault(SecretStore):
    name = "vault"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get(self, name: str) -> str | None:
        self.asked.append(name)
        return "of the vault"


def make_host(stores: Sequence[str] | None = None, kit: Toolkit | None = None, **more: Any) -> Host:
    section: dict[str, Any] = {"autoload": False} if stores is None else {"autoload": False, "secret_stores": stores}
    settings = {"host": {**section, **more.pop("host", {})}}
    config = HostConfig.of(settings, defaults=defaults(), environ=os.environ, directory=Path.cwd())
    return Host(config, toolkits={"x": kit or reading_kit()}, **more)


@pytest.mark.requirement("STDIO-11")
async def test_the_environment_comes_first_then_dotenv_then_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with make_host() as host:
        assert await value(host, "read") == "of the environment"
    monkeypatch.setenv("API_KEY", "")
    async with make_host() as host:
        assert await value(host, "read") == "of .env"
    (folder / ".env").write_text("API_KEY=\n")
    async with make_host() as host:
        assert await value(host, "read") == "of the file"


async def test_the_operator_orders_the_stores_and_others_follow() -> None:
    vault = {"a_vault": plugin_of(stores=[Vault()])}
    for stores, expected in (
        (["secrets_dotenv", "secrets_files"], "of .env"),
        (["a_vault", "secrets_env"], "of the vault"),
        ([], "of the vault"),
    ):
        async with make_host(stores, plugins=vault) as host:
            assert await value(host, "read") == expected


@pytest.mark.needs("auth", "worker")
@pytest.mark.parametrize(
    "name", ["ARCADE_API_KEY", "arcade_worker_secret", "MCP_SERVER_NAME", "PEGBOARD__PLUGINS__X", "_X", "pegboard_x"]
)
async def test_no_store_returns_secrets_of_the_host(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for variable in (name, f"{name}_FILE"):
        monkeypatch.setenv(variable, str(folder / "key"))
    (folder / ".env").write_text(f"{name}=canary\n")
    vault = Vault()
    with caplog.at_level(logging.ERROR):
        async with make_host(None, reading_kit(name), plugins={"other": plugin_of(stores=[vault])}) as host:
            assert list(host.assembly.tools) == []
    assert name not in vault.asked
    assert f"it requires the secret {name}, which is reserved for the host" in caplog.text


class TestEnvironment(SecretStoreContract):
    @pytest.fixture(autouse=True)
    def variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, secret in self.secrets.items():
            monkeypatch.setenv(name, secret)

    def make(self) -> SecretStore:
        return EnvironmentStore()
