"""The operator and unknown callers: the operator token, Unix sockets, and policies without an authenticator."""

from __future__ import annotations

import asyncio
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
TOKEN = "0123456789abcdef" * 4


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, for a user with this home."""
    env = client_environment(home)
    return subprocess.run([PEGBOARD, *arguments], env=env, cwd=home, capture_output=True, text=True, check=False)


def token_file(home: Path) -> Path:
    return home / ".local" / "state" / "pegboard" / "operator-token"


async def test_serving_creates_a_private_token_once_and_a_command_prints_it(fixture_site: Path, tmp_path: Path) -> None:
    async with Served(fixture_site, env={"HOME": str(tmp_path)}):
        first = token_file(tmp_path).read_text().strip()
        assert stat.S_IMODE(token_file(tmp_path).stat().st_mode) == 0o600
    assert run(tmp_path, "operator-token").stdout == f"{first}\n"
    shown = run(tmp_path, "operator-token", "--json").stdout
    assert first in shown
    assert str(token_file(tmp_path)) in shown


def test_a_token_that_others_may_know_stops_the_start(tmp_path: Path) -> None:
    run(tmp_path, "operator-token")
    token_file(tmp_path).chmod(0o644)
    for command in ("operator-token", "serve"):
        done = run(tmp_path, command)
        assert done.returncode == 3
        assert "other users can read or change" in done.stderr
        assert "remove " in done.stderr
        token_file(tmp_path).chmod(0o644)
    token_file(tmp_path).chmod(0o600)
    token_file(tmp_path).parent.chmod(0o777)
    done = run(tmp_path, "serve")
    assert (done.returncode, f"run chmod o-w {token_file(tmp_path).parent}" in done.stderr) == (3, True)


async def knock(path: Path, *fields: tuple[str, str], user: int | None = None) -> bool:
    """Call the tool for the operator, as a user of this machine; return True if it ran."""
    peer = socket.socket(socket.AF_UNIX)
    try:
        if user is not None:
            os.seteuid(user)
        peer.connect(str(path))  # the kernel notes the user now
    finally:
        if user is not None:
            os.seteuid(0)
    request = modern(call("vault_peek"))
    async with Line(*await asyncio.open_unix_connection(sock=peer, limit=LIMIT)) as line:
        done = await exchange(line, request, [*mirrored(request), *fields])
    return done.result["isError"] is False


@pytest.mark.parametrize(
    ("proxies", "calls"),
    [
        ("", [([], True), ([("X-Forwarded-For", "192.0.2.9")], False), ([("Origin", "http://localhost:3000")], False)]),
        ('trusted_proxies = ["unix"]', [([], False)]),
    ],
)
async def test_the_user_of_the_server_is_the_operator_at_its_socket(
    vault: Path, tmp_path: Path, proxies: str, calls: list[tuple[list[tuple[str, str]], bool]]
) -> None:
    config = http_config(f'socket = "{tmp_path}/s"\n{proxies}', more=OPEN_MCP)
    async with Served(vault, config, env=SECRET):
        for fields, ran in calls:
            assert await knock(tmp_path / "s", *fields) is ran


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
async def test_another_user_of_the_machine_is_not(vault: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        config = http_config(f'socket = "{folder}/s"\nsocket_mode = 0o666')
        async with Served(vault, config, env=SECRET):
            assert await knock(Path(folder, "s"))
            assert not await knock(Path(folder, "s"), user=NOBODY)


ANYWHERE = 'host = "0.0.0.0"\nport = 0'
DOOR = f'[plugins.auth_token]\ntoken = "{TOKEN}"\n'
ENGINE = {"ARCADE_WORKER_SECRET": TOKEN}


@pytest.mark.parametrize(
    ("http", "env"),
    [
        (ANYWHERE, ENGINE),
        ("port = 0", {"PEGBOARD__PLUGINS__HTTP__HOST": "0.0.0.0"}),
        ('port = 0\ntrusted_proxies = ["127.0.0.1"]', {}),
        ('socket = "s"\ntrusted_proxies = ["unix"]', {}),
    ],
)
async def test_it_does_not_start_beyond_this_machine_without_an_authenticator(
    fixture_site: Path, http: str, env: dict[str, str]
) -> None:
    served = Served(fixture_site, http_config(http), env=env)
    ways = ("auth_token", "resource_server", "[plugins.mcp] anonymous = true", "[plugins.mcp] http = false")
    await served.assert_refuses(3, *ways)
    assert "serves" not in served.stderr.partition("pegboard: ")[0]


@pytest.mark.needs("auth")
@pytest.mark.parametrize(("host", "arguments"), [("", ["--safe"]), ('disabled_plugins = ["auth_*"]', [])])
async def test_routes_stay_closed_while_their_authenticator_is_disabled(
    fixture_site: Path, host: str, arguments: list[str]
) -> None:
    command: list[str | Path] = [PEGBOARD, "serve", *arguments]
    async with Served(fixture_site, http_config(host=host, more=DOOR), command=command) as served:
        refused = await served.request("POST", "/mcp")
        message = "This is closed because an authenticator is disabled: auth_token. Its operator can enable it.\n"
        assert (refused.status, refused.text) == (403, message)
        assert (await served.request("POST", "/mcp", [served.proof])).status == 415  # the operator gets as far as MCP
        assert "it may authenticate callers of the policy 'mcp', which does not open without it" in served.stderr
