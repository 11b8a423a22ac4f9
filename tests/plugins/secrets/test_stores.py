"""The stores of secrets that come with pegboard, together: which are asked, and in which order."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.loading.discovery import defaults
from pegboard.plugin import ConfigError, HostConfig, Selection
from pegboard_plugins.secrets_env import EnvironmentStore
from tests.host.hosting import failure, plugin_of, value
from tests.plugins.secrets.reading import reading_kit


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own, in which each store has the secret."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".env").write_text("API_KEY=of .env\n")
    (tmp_path / "key").write_text("of the file\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("API_KEY", "of the environment")
    monkeypatch.setenv("API_KEY_FILE", str(tmp_path / "key"))
    return tmp_path


def make_host(stores: Sequence[str] | None = None, *kits: Toolkit, **more: Any) -> Host:
    section: dict[str, Any] = {"autoload": False} if stores is None else {"autoload": False, "secret_stores": stores}
    sections = {"plugins": more.pop("sections", {})}
    settings = {"host": {**section, **more.pop("host", {})}, **sections}
    config = HostConfig.of(settings, defaults=defaults(), environ=os.environ, directory=Path.cwd())
    return Host(config, toolkits={"x": reading_kit(), **_named(kits)}, **more)


def _named(kits: Sequence[Toolkit]) -> dict[str, Toolkit]:
    return {kit.name: kit for kit in kits}


@pytest.mark.requirement("STDIO-11")
async def test_the_environment_comes_first_then_env_then_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with make_host() as host:
        assert await value(host, "x_read") == "of the environment"
    monkeypatch.setenv("API_KEY", "")
    async with make_host() as host:
        assert await value(host, "x_read") == "of .env"
    (folder / ".env").write_text("API_KEY=\n")
    async with make_host() as host:
        assert await value(host, "x_read") == "of the file"


@pytest.mark.parametrize(
    ("stores", "expected"),
    [
        (["secrets_files", "secrets_env"], "of the file"),
        (["secrets_dotenv", "secrets_files"], "of .env"),
        (["secrets_files"], "of the file"),
    ],
)
async def test_the_operator_orders_them(stores: list[str], expected: str) -> None:
    async with make_host(stores) as host:
        assert await value(host, "x_read") == expected


async def test_a_store_that_is_not_listed_does_not_run(folder: Path) -> None:
    (folder / "key").unlink()
    async with make_host(["secrets_files"]) as host:
        assert "API_KEY" in (await failure(host, "x_read")).error.message
        running = {plugin.origin.name for plugin in host.report.plugins}
    assert not {"secrets_env", "secrets_dotenv"} & running


async def test_no_store_at_all_is_told_in_the_warning() -> None:
    async with make_host([]) as host:
        (problem,) = host.problems
    assert "no store of secrets runs" in str(problem)


async def test_a_disabled_store_is_not_asked() -> None:
    async with make_host(host={"disabled_plugins": ["secrets_env"]}) as host:
        assert await value(host, "x_read") == "of .env"


async def test_a_third_partys_store_is_asked_after_those_that_are_listed() -> None:
    class Vault:
        name = "vault"

        def get(self, name: str) -> str | None:
            return "of the vault"

    plugins = {"a_vault": plugin_of(stores=[Vault()])}
    async with make_host(["secrets_env"], plugins=plugins) as host:
        assert await value(host, "x_read") == "of the environment"
    async with make_host(["a_vault", "secrets_env"], plugins=plugins) as host:
        assert await value(host, "x_read") == "of the vault"
    async with make_host([], plugins=plugins) as host:
        assert await value(host, "x_read") == "of the vault"


async def test_a_store_that_nobody_brings_is_an_error_of_configuration() -> None:
    with pytest.raises(ConfigError, match=r"no plugin that runs brings 'secrets_fils'.*secrets_files"):
        await make_host(["secrets_files", "secrets_fils"]).start()


async def test_a_plugin_without_a_store_is_no_store() -> None:
    with pytest.raises(ConfigError, match="no plugin that runs brings 'logging'"):
        await make_host(["logging"]).start()


async def test_a_safe_start_has_the_default_stores() -> None:
    async with make_host(selection=Selection(safe=True)) as host:
        running = {plugin.origin.name for plugin in host.report.plugins}
    assert {"secrets_env", "secrets_dotenv", "secrets_files"} <= running
    assert "secrets_keyring" not in running


async def test_ways_to_set_a_secret_are_those_of_the_stores_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "API_KEY_FILE"):
        monkeypatch.delenv(name)
    kit = Toolkit("y")

    @kit.tool(requires_secrets=["OTHER"])
    def use(context: Context) -> None:
        """Use a secret."""

    async with make_host(["secrets_env", "secrets_dotenv", "secrets_files"], kit) as host:
        (problem,) = host.problems
    assert problem.message == (
        "the secret OTHER is not set; set it in the environment, in .env or in a file that OTHER_FILE names; "
        "it is needed by 'y_use'"
    )
    async with make_host(["secrets_dotenv", "secrets_keyring"], kit) as host:
        (problem,) = host.problems
    assert "; set it in .env or with `keyring set pegboard OTHER`;" in problem.message


def test_a_variable_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTHER", raising=False)
    assert EnvironmentStore().get("API_KEY") == "of the environment"
    assert EnvironmentStore().get("OTHER") is None


# --- what belongs to the host

RESERVED = [
    "ARCADE_API_KEY", "ARCADE_WORKER_SECRET", "arcade_worker_secret", "MCP_SERVER_NAME", "PEGBOARD__PLUGINS__X", "_X",
    "pegboard_x",
]  # fmt: skip


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("policy", ["warn", "hide"])
async def test_no_store_gives_what_belongs_to_the_host(
    name: str, policy: str, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for variable in (name, f"{name}_FILE"):
        monkeypatch.setenv(variable, str(folder / "key"))
    (folder / ".env").write_text(f"{name}=canary\n")
    asked: list[str] = []

    class Vault:
        name = "vault"

        def get(self, name: str) -> str | None:
            asked.append(name)
            return "of the vault"

    kit = Toolkit("y")

    @kit.tool(requires_secrets=[name])
    def steal(context: Context) -> str:
        """Read it."""
        return context.get_secret(name)

    plugins = {"vault": plugin_of(stores=[Vault()])}
    with caplog.at_level(logging.ERROR):
        async with make_host(None, kit, plugins=plugins, host={"missing_secrets": policy}) as host:
            assert list(host.assembly.tools) == ["x_read"]
    assert name not in asked
    assert f"it requires the secret {name}, which is kept for the host itself" in caplog.text
