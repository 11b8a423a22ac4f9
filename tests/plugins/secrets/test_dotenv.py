"""Secrets from the `.env` beside the configuration file, or from a named file."""

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
from tests.plugins.secrets.conftest import reading_kit


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a folder, without variables of this machine."""
    (tmp_path / "pyproject.toml").touch()
    folder = tmp_path / "src" / "package"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for name in ("API_KEY", "OTHER", "EMPTY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("where", ["", "src", "src/package"])
async def test_the_file_is_beside_the_configuration(where: str, project: Path) -> None:
    (project / where / ".env").write_text("API_KEY=from the file\n")
    (project / where / "used.toml").write_text("[host]\nautoload = false\n")
    for folder, expected in ((project / where, True), (project / "src/package/other", False)):
        folder.mkdir(exist_ok=True)
        (folder / "used.toml").write_text("[host]\nautoload = false\n")
        config = HostConfig.load(folder / "used.toml", environ={}, defaults=defaults())
        async with Host(config, toolkits={"x": reading_kit()}) as host:
            outcome = await host.dispatch(Call("tools/call", {"name": "x_read", "arguments": {}}))
        assert isinstance(outcome, Failure) != expected


async def test_without_a_configuration_file_there_are_no_secrets(project: Path) -> None:
    (project / "src/package/.env").write_text("API_KEY=from the working directory\n")
    config = HostConfig.load(environ={"HOME": str(project)}, defaults=defaults())
    async with Host(config, toolkits={"x": reading_kit()}) as host:
        assert "API_KEY" in str(await failure(host, "x_read"))


@pytest.mark.parametrize("named", [False, True], ids=["found", "named"])
@pytest.mark.parametrize(("file", "folder"), [(0o606, 0o755), (0o600, 0o777)], ids=["file", "folder"])
def test_a_file_that_others_can_change_must_be_named(
    file: int, folder: int, named: bool, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = project / ".env"
    path.write_text("API_KEY=x\n")
    path.chmod(file)
    project.chmod(folder)
    assert DotenvStore(path, named=named).get("API_KEY") == ("x" if named else None)
    (record,) = [one for one in caplog.records if one.levelname == "WARNING"]
    assert "other users can write" in record.getMessage()


def test_values(project: Path) -> None:
    file = project / ".env"
    file.mkdir()
    assert DotenvStore(file, named=False).get("API_KEY") is None
    file.rmdir()
    lines = ["# comment", "export API_KEY='with # and spaces'", 'OTHER="two\\nlines"\r', "Ü=ünï # more"]
    file.write_text("\n".join([*lines, "PASS=pa${OTHER}ss", "EMPTY=", "BARE"]) + "\n", encoding="utf-8")
    before, store = dict(os.environ), DotenvStore(file)
    values = ["with # and spaces", "two\nlines", "ünï", "pa${OTHER}ss"]
    assert [store.get(name) for name in ("API_KEY", "OTHER", "Ü", "PASS")] == values
    assert not any(store.get(name) for name in ("EMPTY", "BARE"))
    assert dict(os.environ) == before


@pytest.mark.parametrize("data", [b"API_KEY=\xff\xfe\n", None], ids=["no UTF-8", "unreadable"])
def test_an_unreadable_file_is_a_warning(
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


# --- as a plugin


def config(directory: Path, file: str) -> HostConfig:
    settings = {"host": {"autoload": False}, "plugins": {"secrets_dotenv": {"file": file}}}
    return HostConfig.of(settings, directory=directory)


async def test_a_named_file_is_relative_to_the_configuration_and_must_exist(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from .env\n")
    (project / "conf").mkdir()
    (project / "conf" / "prod.env").write_text("API_KEY=from prod.env\n")
    async with Host(config(project / "conf", "prod.env"), toolkits={"x": reading_kit()}) as host:
        assert await value(host, "x_read") == "from prod.env"
    with pytest.raises(ConfigError, match=r"file.*there is no file .*missing\.env"):
        await Host(config(project, "missing.env"), toolkits={"x": reading_kit()}).start()
