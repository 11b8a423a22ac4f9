"""The files of logins, and the end of logins by the operator and by people."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.config.state import StateFiles
from pegboard.types import Caller, Request, header_fields
from pegboard_plugins.support import sqlite_records
from tests.plugins.auth.login.front import CONFIG, KEY, Front
from tests.plugins.auth.login.identity_server import IdentityServer
from tests.support.forks import Done, forks
from tests.support.person import Person
from tests.support.wire import client_environment


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
    assert not [name for name in os.listdir(state) if name.startswith("login")]


async def test_a_stranger_does_not_reach_the_file(front: Front, client: str, person: Person, state: Path) -> None:
    await person.open(front.url + front.page(client), until=f"{front.url}/login/callback")
    await front.post("/login/revoke", {"token": "x"})
    await front.redeem(client, "x")
    assert await front.status("x") == 401
    assert not [name for name in os.listdir(state) if name.startswith("login")]


async def test_the_command_explains_a_file_that_cannot_be_used(state: Path) -> None:
    (state / "login.db").touch()
    (state / "login.db").chmod(0o644)
    code, _, messages = await people(state)
    assert code != 0
    assert f"pegboard: other users can read {state / 'login.db'}: change its mode with chmod 600" in messages


async def people(state: Path, *arguments: str) -> Done:
    (state / "hostconfig.toml").write_text(CONFIG, "utf-8")
    command = ("people", "--config", "hostconfig.toml", *arguments)
    env = client_environment(state, {"PEGBOARD_STATE_DIR": str(state)})
    return await asyncio.to_thread(forks().run, command, state, env)


async def test_the_operator_lists_and_ends_logins(provider: IdentityServer, state: Path) -> None:
    async with Front(provider.url, checked_seconds=0) as front:
        first = await front.tokens(await front.client())
        code, out, errors = await people(state, "--json")
        assert code == 0, errors
        (row,) = json.loads(out)
        assert (row["person"], row["client"], row["destination"]) == ("ann@example.com", "desk", "127.0.0.1:1")
        assert f"{row['id']} ann@example.com: desk at 127.0.0.1:1; work; until " in (await people(state))[1]
        provider.claims |= {"sub": "8", "email": "bob@example.com"}
        second = await front.tokens(await front.client())
        assert (await people(state, "--end", ""))[0] == 1
        assert (await people(state, "--end", "Ann@example.com"))[1].startswith("1 login has ended.")
        assert (await front.status(first["access_token"]), await front.status(second["access_token"])) == (401, 200)
        assert (await people(state, "--end", "8", "--json")).data == {"ended": 1, "refused_within_seconds": 30}
        code, _, errors = await people(state, "--end", row["id"])
        assert code == 1
        assert "there is no login of" in errors


async def test_the_rights_of_a_caller_end_with_the_login(provider: IdentityServer, state: Path) -> None:
    async with Front(provider.url) as front:
        token = (await front.tokens(await front.client()))["access_token"]
        (authenticator,) = front.host.assembly.authenticators
        request = Request("POST", "/mcp", {}, header_fields({"Authorization": f"Bearer {token}"}))
        caller = await authenticator.authenticate(request)
        assert isinstance(caller, Caller)
        assert await authenticator.admits(caller)
        assert not await authenticator.admits(caller._replace(scopes=frozenset({"more"})))
        assert await authenticator.admits(caller._replace(issuer="https://issuer.example"))
        assert (await people(state, "--end", "ann@example.com"))[0] == 0
        assert not await authenticator.admits(caller)


async def test_a_person_ends_the_own_logins(provider: IdentityServer, person: Person) -> None:
    async with Front(provider.url, checked_seconds=0) as front:
        of_ann = [await front.tokens(await front.client()) for _ in range(2)]
        provider.claims |= {"sub": "8", "email": "bob@example.com"}
        of_bob = await front.tokens(await front.client())
        provider.claims |= {"sub": "7", "email": "ann@example.com"}
        await person.open(f"{front.url}/login/programs")  # submits the page, as long as it has a form
        assert "No program has access" in person.shown[1]
        assert [await front.status(login["access_token"]) for login in (*of_ann, of_bob)] == [401, 401, 200]


@pytest.mark.parametrize("form", [{"key": ""}, {"key": "another"}, {"end": "all"}])
async def test_another_page_ends_no_login(front: Front, form: dict[str, str]) -> None:
    made: dict[str, Any] = await front.tokens(await front.client())
    assert (await front.post("/login/programs", {"end": "all", **form})).status == 403
    assert (await front.get("/login/callback?state=")).status == 403
    assert await front.status(made["access_token"]) == 200
