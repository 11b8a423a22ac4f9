"""Who is the operator: by the token of the state directory, or by the user at the other end of a Unix socket."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.support.http import OPEN_MCP, Line, Served, http_config
from tests.support.http_mcp import call, exchange, mirrored, modern
from tests.support.peer import LIMIT
from tests.support.wire import PEGBOARD, client_environment

NOBODY = 65534
SECRET = {"SECRET_KEY": "s3cret"}


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, for a user with this home."""
    env = client_environment(home)
    return subprocess.run([PEGBOARD, *arguments], env=env, cwd=home, capture_output=True, text=True, check=False)


def token_file(home: Path) -> Path:
    return home / ".local" / "state" / "pegboard" / "operator-token"


# --- the token


@pytest.mark.asyncio(loop_scope="session")
async def test_the_command_prints_the_token_that_serving_created(fixture_site: Path, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    async with Served(fixture_site, env=home):
        first = token_file(tmp_path).read_text().strip()
        assert stat.S_IMODE(token_file(tmp_path).stat().st_mode) == 0o600
    async with Served(fixture_site, env=home):
        assert token_file(tmp_path).read_text().strip() == first
    assert run(tmp_path, "operator-token").stdout == f"{first}\n"
    shown = run(tmp_path, "operator-token", "--json").stdout
    assert first in shown
    assert str(token_file(tmp_path)) in shown


def test_the_command_creates_a_token_and_never_replaces_one(tmp_path: Path) -> None:
    assert len({run(tmp_path, "operator-token").stdout for _ in range(2)}) == 1


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        ("", 0o600, "does not contain an operator token"),
        ("x" * 43, 0o600, "does not hold"),
        (None, 0o644, "others can read"),
    ],
)
def test_a_token_that_others_may_know_stops_the_start(
    tmp_path: Path, content: str | None, mode: int, said: str
) -> None:
    given = run(tmp_path, "operator-token").stdout
    token_file(tmp_path).write_text(given if content is None else content)
    token_file(tmp_path).chmod(mode)
    for command in ("operator-token", "serve"):
        done = run(tmp_path, command)
        assert done.returncode == 3
        assert said in done.stderr
        assert "remove " in done.stderr


@pytest.mark.asyncio(loop_scope="session")
async def test_without_a_state_directory_it_serves_and_says_so(fixture_site: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with Served(fixture_site, env={"PEGBOARD_STATE_DIR": str(tmp_path / "file")}) as served:
        assert "there is no operator token: " in served.stderr
        assert "set PEGBOARD_STATE_DIR to a folder that can be written" in served.stderr


@pytest.mark.asyncio(loop_scope="session")
async def test_it_opens_nothing_that_has_an_authenticator(fixture_site: Path) -> None:
    """Neither for MCP nor for the worker: their own tokens do that."""
    more = f'[plugins.auth_token]\ntoken = "{"0123456789abcdef" * 4}"\n'
    env = {"ARCADE_WORKER_SECRET": "0123456789abcdef" * 4}
    async with Served(fixture_site, http_config(more=more), env=env, operator=True) as served:
        assert (await served.request("POST", "/mcp")).status == 401
        assert (await served.request("GET", "/worker/tools")).status == 401
        assert "operator-token" not in served.stderr


# --- Unix sockets


async def knock(path: Path, *fields: tuple[str, str], user: int | None = None) -> bool:
    """Call the tool that is for the operator, as a user of this machine; whether it ran."""
    peer = socket.socket(socket.AF_UNIX)
    try:
        if user is not None:
            os.seteuid(user)
        peer.connect(str(path))  # the kernel notes the user now
    finally:
        if user is not None:
            os.seteuid(0)
    one = modern(call("vault_peek"))
    async with Line(*await asyncio.open_unix_connection(sock=peer, limit=LIMIT)) as line:
        done = await exchange(line, json.dumps(one).encode(), [*mirrored(one), *fields])
    return done.result["isError"] is False


@pytest.mark.parametrize(
    ("proxies", "fields", "ran"),
    [
        ("", [], True),
        ("", [("X-Forwarded-For", "203.0.113.9")], False),
        ("", [("Origin", "http://localhost:3000")], False),
        ('trusted_proxies = ["unix"]', [], False),
    ],
)
@pytest.mark.asyncio(loop_scope="session")
async def test_the_operators_user_is_the_operator(
    vault: Path, tmp_path: Path, proxies: str, fields: list[tuple[str, str]], ran: bool
) -> None:
    config = http_config(f'socket = "{tmp_path}/s"\n{proxies}', more=OPEN_MCP)
    async with Served(vault, config, env=SECRET):
        assert await knock(tmp_path / "s", *fields) is ran


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.asyncio(loop_scope="session")
async def test_another_user_of_the_machine_is_not(vault: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        config = http_config(f'socket = "{folder}/s"\nsocket_mode = 0o666')
        async with Served(vault, config, env=SECRET):
            assert await knock(Path(folder, "s"))
            assert not await knock(Path(folder, "s"), user=NOBODY)
