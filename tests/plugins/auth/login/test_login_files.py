"""The files of logins: modes, damage, locks, and requests that do not touch them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard.config.state import StateFiles
from pegboard_plugins.support import sqlite_records
from tests.plugins.auth.login.front import KEY, Front
from tests.plugins.auth.login.identity_server import IdentityServer
from tests.support.person import Person


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode & 0o777) for path in folder.glob("login*")}


async def test_only_the_owner_can_read_the_files(provider: IdentityServer, state: Path) -> None:
    async with Front(provider.url, keys=[]) as front:
        await front.tokens(await front.client())
    assert modes(state) == {"login-key": "0o600", "login.db": "0o600"}


def lock(path: Path) -> object:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: path.write_bytes(b"x" * 4096), "file is not a database"),
        (replace_by_folder, "Is a directory"),
        (lambda path: path.chmod(0o644), "change its mode with chmod 600"),
        (lock, "database is locked"),
    ],
)
async def test_a_file_that_cannot_be_used(
    damage: Callable[[Path], object],
    reason: str,
    provider: IdentityServer,
    state: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sqlite_records, "MAX_FILE_WAIT_SECONDS", 0)
    async with Front(provider.url, checked_seconds=0) as front:
        client = await front.client()
        tokens = await front.tokens(client)
        kept = damage(state / "login.db")
        assert await front.status(tokens["access_token"]) == 503
        assert (await front.refresh(client, tokens["refresh_token"])).status == 503
        assert (await front.log_in(client))["error"] == "server_error"
        assert caplog.text.count(reason) == 3
        assert "Traceback" not in caplog.text
        if isinstance(kept, sqlite3.Connection):
            kept.close()


@pytest.mark.parametrize(
    ("key", "mode", "problem"),
    [
        (b"", 0o600, "login-key in the state directory is damaged: remove it"),  # of a crash: everyone could sign
        (KEY.encode(), 0o644, "other users can read or change {}: run chmod 600"),
    ],
    ids=["empty", "others can read it"],
)
async def test_an_unsafe_key_signs_nothing(
    key: bytes, mode: int, problem: str, provider: IdentityServer, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    StateFiles(os.environ).create("login-key", key)
    (state / "login-key").chmod(mode)
    async with Front(provider.url, keys=[]) as front:
        assert (await front.register()).status == 503
        assert await front.status("x") == 503
    assert problem.format(state / "login-key") in caplog.text


async def test_files_are_not_opened_in_a_directory_that_every_user_can_write(
    front: Front, client: str, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    os.chmod(state, 0o777)
    assert (await front.log_in(client))["error"] == "server_error"
    assert f"run chmod o-w {state}" in caplog.text
    assert modes(state) == {}


async def test_a_stranger_does_not_reach_the_file(front: Front, client: str, person: Person, state: Path) -> None:
    await person.open(front.url + front.page(client), until=f"{front.url}/login/callback")
    await front.post("/login/revoke", {"token": "x"})
    await front.redeem(client, "x")
    assert await front.status("x") == 401
    assert modes(state) == {}
