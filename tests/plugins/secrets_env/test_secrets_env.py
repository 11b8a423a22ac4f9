"""Secrets from the environment and from the nearest `.env`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegboard import ConfigError, Context, Host, HostConfig, Toolkit
from pegboard_plugins.secrets_env import EnvironmentStore, SecretsEnvPlugin
from tests.host.hosting import make_host, value


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a folder in it, and nothing of this machine's environment."""
    (tmp_path / "pyproject.toml").touch()
    folder = tmp_path / "src" / "package"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for name in ("API_KEY", "OTHER", "EMPTY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_variable_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "from the environment")
    assert EnvironmentStore().get("API_KEY") == "from the environment"
    assert EnvironmentStore().get("OTHER") is None


@pytest.mark.parametrize("where", [".env", "src/.env", "src/package/.env"])
def test_the_file_is_found_upward(project: Path, where: str) -> None:
    (project / where).write_text("API_KEY=from the file\n")
    assert EnvironmentStore().get("API_KEY") == "from the file"


def test_the_nearest_file_counts_alone(project: Path) -> None:
    (project / ".env").write_text("API_KEY=far\nOTHER=far\n")
    (project / "src" / ".env").write_text("API_KEY=near\n")
    store = EnvironmentStore()
    assert store.get("API_KEY") == "near"
    assert store.get("OTHER") is None


def test_the_file_is_not_looked_for_beyond_the_nearest_project(project: Path) -> None:
    (project / ".env").write_text("API_KEY=of another project\n")
    (project / "src" / "pyproject.toml").touch()
    assert EnvironmentStore().get("API_KEY") is None


def test_a_folder_called_like_the_file_is_none(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from the file\n")
    (project / "src" / ".env").mkdir()
    assert EnvironmentStore().get("API_KEY") == "from the file"


def test_the_environment_wins_over_the_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".env").write_text("API_KEY=from the file\nOTHER=from the file\n")
    monkeypatch.setenv("API_KEY", "from the environment")
    store = EnvironmentStore()
    assert (store.get("API_KEY"), store.get("OTHER")) == ("from the environment", "from the file")


def test_an_empty_secret_is_a_missing_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".env").write_text("EMPTY=\nAPI_KEY=from the file\nBARE\n")
    monkeypatch.setenv("API_KEY", "")
    monkeypatch.setenv("OTHER", "")
    store = EnvironmentStore()
    assert [store.get(name) for name in ("EMPTY", "OTHER", "BARE")] == [None, None, None]
    assert store.get("API_KEY") == "from the file"


@pytest.mark.parametrize(
    "name",
    ["ARCADE_API_KEY", "ARCADE_WORKER_SECRET", "arcade_worker_secret", "MCP_SERVER_NAME", "PEGBOARD__PLUGINS__X", "_X"],
)
def test_what_belongs_to_the_host_is_never_given(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "of the host")
    assert EnvironmentStore().get(name) is None
    monkeypatch.delenv(name)
    (project / ".env").write_text(f"{name}=of the host\n")
    assert EnvironmentStore().get(name) is None


def test_values_are_read_as_such_files_are_written(project: Path) -> None:
    (project / ".env").write_text(
        "# a comment\nexport API_KEY='with # and spaces'\nOTHER=\"two\\nlines\"\r\nÜ=ünï # more\n", encoding="utf-8"
    )
    store = EnvironmentStore()
    assert [store.get(name) for name in ("API_KEY", "OTHER", "Ü")] == ["with # and spaces", "two\nlines", "ünï"]


def test_reading_the_file_does_not_touch_the_environment(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from the file\n")
    before = dict(os.environ)
    EnvironmentStore().get("API_KEY")
    assert dict(os.environ) == before


@pytest.mark.parametrize("data", [b"API_KEY=\xff\xfe\n", None], ids=["no UTF-8", "unreadable"])
def test_a_file_that_cannot_be_read_is_told_and_is_no_reason_to_stop(
    data: bytes | None, project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = project / ".env"
    path.write_bytes(data or b"API_KEY=x\n")
    if data is None:
        monkeypatch.setattr("dotenv.dotenv_values", _refuse)  # this may run as a user whom no file refuses
    assert EnvironmentStore().get("API_KEY") is None
    (record,) = caplog.records
    assert str(path) in record.getMessage()


def _refuse(path: Path) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_working_directory_that_is_gone_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("API_KEY", "from the environment")
    store = EnvironmentStore()
    assert (store.get("API_KEY"), store.get("OTHER")) == ("from the environment", None)


# --- as a plugin


def kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool(requires_secrets=["API_KEY"])
    def read(context: Context) -> str:
        """Read the secret."""
        return context.get_secret("API_KEY")

    return kit


@pytest.mark.requirement("STDIO-11")
async def test_the_host_gives_tools_what_the_environment_has(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from the file\n")
    async with make_host(kit(), plugins={"secrets_env_of_test": SecretsEnvPlugin}) as host:
        assert await value(host, "x_read") == "from the file"


async def test_it_is_on_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "from the environment")
    async with Host({"host": {"autoload": False}}, toolkits={"x": kit()}) as host:
        assert await value(host, "x_read") == "from the environment"


def config(directory: Path, env_file: str) -> HostConfig:
    settings = {"host": {"autoload": False}, "plugins": {"secrets_env": {"env_file": env_file}}}
    return HostConfig.of(settings, directory=directory)


async def test_a_file_may_be_named_relative_to_the_configuration(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from .env\n")
    (project / "conf").mkdir()
    (project / "conf" / "prod.env").write_text("API_KEY=from prod.env\n")
    async with Host(config(project / "conf", "prod.env"), toolkits={"x": kit()}) as host:
        assert await value(host, "x_read") == "from prod.env"


async def test_no_file_at_all_can_be_asked_for(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from .env\n")
    async with Host(config(project, ""), toolkits={"x": kit()}) as host:
        assert any("API_KEY" in str(problem) for problem in host.problems)


async def test_a_named_file_that_is_missing_is_an_error_of_configuration(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"env_file.*there is no file .*missing\.env"):
        await Host(config(project, "missing.env"), toolkits={"x": kit()}).start()
