"""Secrets from the `.env` beside the configuration file, or from a file that is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegboard import Host
from pegboard.loading.discovery import defaults
from pegboard.plugin import ConfigError, HostConfig
from pegboard.types import Call, Failure
from pegboard_plugins.secrets_dotenv import DotenvStore
from tests.host.hosting import failure, value
from tests.plugins.secrets.reading import reading_kit


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


@pytest.mark.parametrize("where", ["", "src", "src/package"])
async def test_only_the_folder_of_the_configuration_is_searched(where: str, project: Path) -> None:
    (project / where / ".env").write_text("API_KEY=from the file\n")
    (project / where / "used.toml").write_text("[host]\nautoload = false\n")
    for folder, expected in ((project / where, True), (project / "src/package/other", False)):
        folder.mkdir(exist_ok=True)
        (folder / "used.toml").write_text("[host]\nautoload = false\n")
        config = HostConfig.load(folder / "used.toml", environ={}, defaults=defaults())
        async with Host(config, toolkits={"x": reading_kit()}) as host:
            outcome = await host.dispatch(Call("tools/call", {"name": "x_read", "arguments": {}}))
        assert isinstance(outcome, Failure) != expected


async def test_without_a_configuration_file_none_is_found(project: Path) -> None:
    (project / "src/package/.env").write_text("API_KEY=from the working directory\n")
    config = HostConfig.load(environ={"HOME": str(project)}, defaults=defaults())
    async with Host(config, toolkits={"x": reading_kit()}) as host:
        assert "API_KEY" in str(await failure(host, "x_read"))


@pytest.mark.parametrize("named", [False, True], ids=["found", "named"])
@pytest.mark.parametrize(("file", "folder"), [(0o606, 0o755), (0o600, 0o777)], ids=["file", "folder"])
def test_a_file_that_others_can_change_is_refused_unless_named(
    file: int, folder: int, named: bool, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = project / ".env"
    path.write_text("API_KEY=x\n")
    path.chmod(file)
    project.chmod(folder)
    assert DotenvStore(path, named=named).get("API_KEY") == ("x" if named else None)
    (record,) = [one for one in caplog.records if one.levelname == "WARNING"]
    assert "other users can write" in record.getMessage()


def test_a_folder_called_like_the_file_is_none(project: Path) -> None:
    (project / ".env").mkdir()
    assert DotenvStore(project / ".env", named=False).get("API_KEY") is None


def test_values_are_read_as_such_files_are_written(project: Path) -> None:
    (project / ".env").write_text(
        "# a comment\nexport API_KEY='with # and spaces'\nOTHER=\"two\\nlines\"\r\nÜ=ünï # more\n", encoding="utf-8"
    )
    store = DotenvStore(project / ".env")
    assert [store.get(name) for name in ("API_KEY", "OTHER", "Ü")] == ["with # and spaces", "two\nlines", "ünï"]


def test_what_looks_like_a_variable_in_a_secret_is_part_of_it(project: Path) -> None:
    (project / ".env").write_text("OTHER=x\nAPI_KEY=pa${OTHER}ss\n")
    assert DotenvStore(project / ".env").get("API_KEY") == "pa${OTHER}ss"


def test_reading_the_file_does_not_touch_the_environment(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from the file\n")
    before = dict(os.environ)
    DotenvStore(project / ".env").get("API_KEY")
    assert dict(os.environ) == before


@pytest.mark.parametrize("data", [b"API_KEY=\xff\xfe\n", None], ids=["no UTF-8", "unreadable"])
def test_a_file_that_cannot_be_read_is_told_and_is_no_reason_to_stop(
    data: bytes | None, project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = project / ".env"
    path.write_bytes(data or b"API_KEY=x\n")
    if data is None:
        monkeypatch.setattr(Path, "open", _refuse)  # this may run as a user whom no file refuses
    assert DotenvStore(project / ".env").get("API_KEY") is None
    (record,) = caplog.records
    assert str(path) in record.getMessage()


def _refuse(path: Path, *args: object, **options: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_an_empty_value_is_a_missing_secret(project: Path) -> None:
    (project / ".env").write_text("EMPTY=\nBARE\n")
    assert not any(DotenvStore(project / ".env").get(name) for name in ("EMPTY", "BARE"))


# --- as a plugin


def config(directory: Path, file: str) -> HostConfig:
    settings = {"host": {"autoload": False}, "plugins": {"secrets_dotenv": {"file": file}}}
    return HostConfig.of(settings, directory=directory)


async def test_a_file_may_be_named_relative_to_the_configuration(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from .env\n")
    (project / "conf").mkdir()
    (project / "conf" / "prod.env").write_text("API_KEY=from prod.env\n")
    async with Host(config(project / "conf", "prod.env"), toolkits={"x": reading_kit()}) as host:
        assert await value(host, "x_read") == "from prod.env"


async def test_a_named_file_that_is_missing_is_an_error_of_configuration(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"file.*there is no file .*missing\.env"):
        await Host(config(project, "missing.env"), toolkits={"x": reading_kit()}).start()
