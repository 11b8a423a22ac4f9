"""Secrets from the `.env` beside the configuration file, or from a named file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard import Host
from pegboard.config import HostConfig
from pegboard.errors import ConfigError
from pegboard.loading.discovery import defaults
from pegboard.plugin import SecretStore
from pegboard_plugins.secrets.secrets_dotenv import DotenvStore
from pegboard_testing import WritableSecretStoreContract
from tests.host.hosting import failure, value
from tests.plugins.secrets.conftest import reading_host, reading_kit


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project, without variables of this machine."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("API_KEY", raising=False)
    return tmp_path


@pytest.mark.parametrize("configured", [True, False])
async def test_the_file_beside_the_configuration_is_read_and_no_other(configured: bool, project: Path) -> None:
    for folder, secret in ((project, "of the working directory"), (project / "conf", "of the configuration")):
        folder.mkdir(exist_ok=True)
        (folder / ".env").write_text(f"API_KEY={secret}\n")
    file = project / "conf" / "used.toml"
    file.write_text("[host]\nautoload = false\n")
    config = HostConfig.load(file if configured else None, environ={"HOME": str(project)}, defaults=defaults())
    async with Host(config, toolkits={"x": reading_kit()}) as host:
        if configured:
            assert await value(host, "read") == "of the configuration"
        else:
            assert "API_KEY" in str(await failure(host, "read"))


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
    (record,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "other users can write" in record.getMessage()


def test_values(project: Path) -> None:
    lines = ["# comment", "export API_KEY='with # and spaces'", 'OTHER="two\\nlines"\r', "Ü=ünï # more"]
    file = project / ".env"
    file.write_text("\n".join([*lines, "PASS=pa${OTHER}ss", "EMPTY=", "BARE"]) + "\n", encoding="utf-8")
    store = DotenvStore(file)
    values = ["with # and spaces", "two\nlines", "ünï", "pa${OTHER}ss"]
    assert [store.get(name) for name in ("API_KEY", "OTHER", "Ü", "PASS")] == values
    assert not any(store.get(name) for name in ("EMPTY", "BARE"))
    assert not {"API_KEY", "OTHER", "PASS"} & os.environ.keys()


async def test_a_named_file_is_relative_to_the_configuration_and_must_exist(project: Path) -> None:
    (project / ".env").write_text("API_KEY=from .env\n")
    (project / "conf").mkdir()
    (project / "conf" / "prod.env").write_text("API_KEY=from prod.env\n")
    async with reading_host(project / "conf", "secrets_dotenv", file="prod.env") as host:
        assert await value(host, "read") == "from prod.env"
    with pytest.raises(ConfigError, match=r"file.*the file .*missing\.env does not exist"):
        await reading_host(project, "secrets_dotenv", file="missing.env").start()


@pytest.mark.parametrize(
    ("put", "problem"),
    [
        (os.mkfifo, "is not a regular file: move it away"),
        (Path.mkdir, "is not a regular file: move it away"),
        (lambda path: path.write_bytes(b"A=\xff\n"), "is not UTF-8: save it in this encoding"),
    ],
    ids=["pipe", "folder", "latin-1"],
)
def test_a_file_that_cannot_be_changed_is_named(put: Callable[[Path], object], problem: str, project: Path) -> None:
    file = project / ".env"
    put(file)
    with pytest.raises(ValueError, match=f"{file} {problem}"):
        DotenvStore(file).set("API_KEY", "secret")


class TestDotenv(WritableSecretStoreContract):
    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path) -> None:
        self.path = tmp_path / ".env"
        quoted = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in self.secrets.items()}
        self.path.write_text("".join(f"{name}='{value}'\n" for name, value in quoted.items()))

    def make(self) -> SecretStore:
        return DotenvStore(str(self.path))
