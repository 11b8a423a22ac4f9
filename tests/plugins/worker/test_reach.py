"""What is good for this machine alone is for nobody else (row C-20): weak secrets, and a worker without tokens."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.plugins.worker.conftest import SECRET, Engine, serve, token
from tests.support.http import Line

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.filterwarnings("ignore:The HMAC key is"),
]

NO_MCP = "[plugins.mcp]\nhttp = false"
LOOPBACK = "port = 0\nloopback_is_operator = true"
WEAK = {"ARCADE_WORKER_SECRET": "changeme"}
OPEN = {"ARCADE_WORKER_SECRET": SECRET, "ARCADE_AUTH_DISABLED": "true"}
BOTH = pytest.mark.parametrize(
    ("env", "reason", "back"),
    [
        (WEAK, "the worker's secret is weak; set ARCADE_WORKER_SECRET", "weak_secrets_anywhere = true"),
        (OPEN, "the worker lets everybody in: ARCADE_AUTH_DISABLED", "auth_disabled_anywhere = true"),
    ],
    ids=["a weak secret", "no tokens"],
)


def engine_of(env: Mapping[str, str], served: object) -> Engine:
    return Engine(served, None if env is OPEN else f"Bearer {token('changeme')}")  # type: ignore[arg-type]  # it is one


@BOTH
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
async def test_loopback_is_the_operators_where_settings_say_so(
    site: Path, env: dict[str, str], reason: str, back: str, host: str
) -> None:
    async with serve(site, http=f'host = "{host}"\n{LOOPBACK}', env=env) as served:
        assert f"admits the operator alone: {reason}" in served.stderr
        if host == "127.0.0.1":
            assert (await engine_of(env, served).ask("GET", "tools")).status == 200


@BOTH
@pytest.mark.parametrize("host", ["0.0.0.0", "the machine's own name", "", "::"])
async def test_no_other_address_is(site: Path, env: dict[str, str], reason: str, back: str, host: str) -> None:
    address = socket.gethostname() if " " in host else host
    async with serve(site, http=f'host = "{address}"\nport = 0', env=env, ready=False) as refused:
        assert await refused.wait() == 3
        assert f"is not for this machine alone, and {reason}" in refused.stderr


@BOTH
async def test_a_unix_socket_is_its_users(site: Path, env: dict[str, str], reason: str, back: str) -> None:
    async with serve(site, http='socket = "here"', env=env, ready=False) as served:
        await served.said("admits the operator alone: ")
        await served.said(r"serves .* at unix:")
        async with Line(*await asyncio.open_unix_connection(str(served.cwd / "here"))) as line:
            fields = [] if env is OPEN else [("Authorization", f"Bearer {token('changeme')}")]
            assert (await line.request("GET", "/worker/tools", fields)).status == 200


@BOTH
@pytest.mark.parametrize(
    "field",
    [("X-Forwarded-For", "203.0.113.7"), ("Forwarded", "for=203.0.113.7"), ("Host", "tools.example.com")],
    ids=str,
)
async def test_what_a_proxy_passes_on_is_not_of_this_machine(
    site: Path, env: dict[str, str], reason: str, back: str, field: tuple[str, str]
) -> None:
    async with serve(site, http=f'{LOOPBACK}\nallowed_hosts = ["tools.example.com"]', env=env) as served:
        fields = [field, ("Authorization", f"Bearer {token('changeme')}")]
        answer = await served.request("GET", "/worker/tools", fields)
        assert (answer.status, answer.text.partition(".")[0]) == (403, "Only the operator may use this")
        assert (await served.request("GET", "/worker/health", fields)).status == 200


@BOTH
async def test_a_loopback_port_alone_proves_nothing(site: Path, env: dict[str, str], reason: str, back: str) -> None:
    async with serve(site, env=env) as served:
        answer = await served.request("GET", "/worker/tools", [("Authorization", f"Bearer {token('changeme')}")])
        assert answer.status == 403
        for told in (answer.text, served.stderr.partition("to prove that it is you")[2].partition("\n")[0]):
            assert ("send the operator token as `Authorization: Bearer`" in told) == (env is OPEN)
        assert "set `loopback_is_operator = true`" in answer.text


async def test_a_worker_without_tokens_is_open_to_the_operator(site: Path) -> None:
    async with serve(site, env=OPEN) as served:
        assert (await served.request("GET", "/worker/tools", [served.proof])).status == 200


@BOTH
async def test_the_operator_may_have_it_otherwise(site: Path, env: dict[str, str], reason: str, back: str) -> None:
    async with serve(site, back, http='host = "0.0.0.0"\nport = 0', more=NO_MCP, env=env) as served:
        engine = engine_of(env, served)
        assert (await engine.ask("GET", "tools")).status == 200
        assert (await engine.invoke("RetBool"))["success"] is True
        assert ("lets everybody in" in served.stderr) is (env is OPEN)


@pytest.mark.parametrize("value", ["false", "0", ""])
async def test_a_switch_that_is_off_is_off(site: Path, value: str) -> None:
    env = {**OPEN, "ARCADE_AUTH_DISABLED": value}
    async with serve(site, http='host = "0.0.0.0"\nport = 0', more=NO_MCP, env=env) as served:
        assert (await Engine(served).ask("GET", "tools")).status == 401


async def test_without_a_secret_nothing_is_served_though_nobody_needs_a_token(site: Path) -> None:
    async with serve(site, env={"ARCADE_AUTH_DISABLED": "true"}) as served:
        assert (await served.request("GET", "/worker/health")).status == 404


async def test_a_token_may_be_used_again_and_names_its_holder_to_nobody(served: object) -> None:
    """Row C-21: no account is kept of tokens, and what they say beside the checked claims is ignored."""
    given = token(jti="once", sub="ada", iss="https://a.example")
    engine = Engine(served, f"Bearer {given}")  # type: ignore[arg-type]  # it is one
    for _ in range(3):
        assert (await engine.invoke("Talk"))["output"]["value"] == "None"
