"""Secrets from files: `NAME_FILE`, and a folder of secrets."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pytest

from pegboard.errors import ConfigError
from pegboard.plugin import SecretStore
from pegboard_plugins.secrets.secrets_files import MAX_SECRET_BYTES, FileStore
from pegboard_testing import WritableSecretStoreContract
from tests.host.hosting import value
from tests.plugins.secrets.conftest import reading_host


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one secret."""
    monkeypatch.delenv("API_KEY_FILE", raising=False)
    path = tmp_path / "secrets"
    path.mkdir()
    put(path / "API_KEY", b"of the folder\n")
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return a file outside of the folder."""
    put(tmp_path / "key", b"of the file\n")
    return tmp_path / "key"


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


def test_the_file_of_the_variable_comes_before_the_folder(
    folder: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [FileStore(str(folder)).get(name) for name in ("API_KEY", "OTHER")] == ["of the folder", None]
    assert FileStore().get("API_KEY") is None
    monkeypatch.setenv("API_KEY_FILE", str(key))
    for store in (FileStore(), FileStore(str(folder))):
        assert [store.get(name) for name in ("API_KEY", "OTHER")] == ["of the file", None]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b" with spaces \n", " with spaces "),
        (b"-----BEGIN-----\nAAAA\n-----END-----\n", "-----BEGIN-----\nAAAA\n-----END-----"),
        (b"\xef\xbb\xbfs3cret", "s3cret"),
        (b"x" * MAX_SECRET_BYTES, "x" * MAX_SECRET_BYTES),
    ],
)
def test_the_line_break_at_the_end_is_removed(data: bytes, expected: str, folder: Path) -> None:
    put(folder / "API_KEY", data)
    assert FileStore(str(folder)).get("API_KEY") == expected


def test_links_and_names_stay_within_the_folder(folder: Path, key: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "..2026").mkdir()  # a mounted volume links the file below a link that changes with the secrets
    put(folder / "..2026" / "TOKEN", b"mounted\n")
    (folder / "..data").symlink_to("..2026")
    (folder / "TOKEN").symlink_to(Path("..data", "TOKEN"))
    (folder / "LINK").symlink_to(key)
    (folder / "sub").mkdir()
    put(folder / "sub" / "key", b"below")
    store = FileStore(str(folder))
    assert (store.get("TOKEN"), store.get("LINK")) == ("mounted", None)
    assert "leads out of" in caplog.text
    for name in ("../key", "..", "", "sub/key", "/etc/hostname", "a\0b", "x" * 300):
        assert store.get(name) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "No such file or directory"),
        ("pipe", "it is not a regular file"),
        (b"x" * (MAX_SECRET_BYTES + 1), f"it has more than {MAX_SECRET_BYTES} bytes"),
        (b"canary-61f0\xff", "it is not UTF-8"),
    ],
)
def test_an_unreadable_file_is_one_warning(
    data: Any, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "odd"
    if data == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("only POSIX has pipes with names")
        os.mkfifo(path)
    elif data:
        put(path, data)
    monkeypatch.setenv("API_KEY_FILE", str(path))
    assert FileStore().get("API_KEY") is None
    (record,) = caplog.records
    assert "which API_KEY_FILE names" in record.getMessage()
    assert reason in record.getMessage()
    assert "canary" not in record.getMessage()


@pytest.mark.parametrize(
    ("mode", "level", "remark"),
    [(0o640, None, ""), (0o644, "INFO", "can read it"), (0o602, "WARNING", "can write to it")],
)
def test_wide_permissions_are_logged(
    mode: int, level: str | None, remark: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "API_KEY").chmod(mode)
    with caplog.at_level(logging.INFO):
        assert FileStore(str(folder)).get("API_KEY") == "of the folder"
    assert [record.levelname for record in caplog.records] == ([level] if level else [])
    assert remark in caplog.text


async def test_the_folder_is_relative_to_the_configuration_and_must_exist(folder: Path) -> None:
    async with reading_host(folder.parent, "secrets_files", directory="secrets") as host:
        assert await value(host, "read") == "of the folder"
    with pytest.raises(ConfigError, match=r"directory.*the folder .*missing does not exist"):
        await reading_host(folder, "secrets_files", directory="missing").start()
    (folder / "API_KEY").unlink()
    async with reading_host(folder, "secrets_files", directory=".") as host:
        (problem,) = host.problems
    assert f"in a file that API_KEY_FILE names, in the file {folder / 'API_KEY'}" in str(problem)


class TestFiles(WritableSecretStoreContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tmp_path
        for name, secret in self.secrets.items():
            (tmp_path / name).write_text(f"{secret}\n")

    def make(self) -> SecretStore:
        return FileStore(str(self.path))
