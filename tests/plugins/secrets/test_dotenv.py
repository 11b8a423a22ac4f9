"""Secrets from the nearest `.env`, or from a file that is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegboard import ConfigError, Host, HostConfig
from pegboard_plugins.secrets_dotenv import DotenvStore
from tests.host.hosting import value
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


@pytest.mark.parametrize("where", [".env", "src/.env", "src/package/.env"])
def test_the_file_is_found_upward(project: Path, where: str) -> None:
    (project / where).write_text("API_KEY=from the file\n")
    assert DotenvStore().get("API_KEY") == "from the file"


def test_the_nearest_file_counts_alone(project: Path) -> None:
    (project / ".env").write_text("API_KEY=far\nOTHER=far\n")
    (project / "src" / ".env").write_text("API_KEY=near\n")
    store = DotenvStore()
    assert store.get("API_KEY") == "near"
    assert store.get("OTHER") is None


def test_the_file_is_not_looked_for_beyond_the_nearest_project(project: Path) -> None:
    (project / ".env").write_text("API_KEY=of another project\n")
    (project / "src" / "pyproject.toml").touch()
    assert DotenvStore().get("API_KEY") is None


def test_a_folder_called_like_the_file_is_none(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from the file\n")
    (project / "src" / ".env").mkdir()
    assert DotenvStore().get("API_KEY") == "from the file"


def test_values_are_read_as_such_files_are_written(project: Path) -> None:
    (project / ".env").write_text(
        "# a comment\nexport API_KEY='with # and spaces'\nOTHER=\"two\\nlines\"\r\nÜ=ünï # more\n", encoding="utf-8"
    )
    store = DotenvStore()
    assert [store.get(name) for name in ("API_KEY", "OTHER", "Ü")] == ["with # and spaces", "two\nlines", "ünï"]


def test_what_looks_like_a_variable_in_a_secret_is_part_of_it(project: Path) -> None:
    (project / ".env").write_text("OTHER=x\nAPI_KEY=pa${OTHER}ss\n")
    assert DotenvStore().get("API_KEY") == "pa${OTHER}ss"


def test_reading_the_file_does_not_touch_the_environment(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from the file\n")
    before = dict(os.environ)
    DotenvStore().get("API_KEY")
    assert dict(os.environ) == before


@pytest.mark.parametrize("data", [b"API_KEY=\xff\xfe\n", None], ids=["no UTF-8", "unreadable"])
def test_a_file_that_cannot_be_read_is_told_and_is_no_reason_to_stop(
    data: bytes | None, project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = project / ".env"
    path.write_bytes(data or b"API_KEY=x\n")
    if data is None:
        monkeypatch.setattr("dotenv.dotenv_values", _refuse)  # this may run as a user whom no file refuses
    assert DotenvStore().get("API_KEY") is None
    (record,) = caplog.records
    assert str(path) in record.getMessage()


def _refuse(path: Path, **options: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_working_directory_that_is_gone_is_no_reason_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert DotenvStore().get("API_KEY") is None


def test_an_empty_value_is_a_missing_secret(project: Path) -> None:
    (project / ".env").write_text("EMPTY=\nBARE\n")
    assert not any(DotenvStore().get(name) for name in ("EMPTY", "BARE"))


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
