"""Beyond this machine everything served has an authenticator, and one that does not run leaves nothing open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.http import OPEN_MCP, Served, http_config
from tests.support.http_mcp import ask, message
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANYWHERE = 'host = "0.0.0.0"\nport = 0'
TOKEN = "0123456789abcdef" * 4
DOOR = f'[plugins.auth_token]\ntoken = "{TOKEN}"\n'
ENGINE = {"ARCADE_WORKER_SECRET": TOKEN}


@pytest.mark.parametrize(
    ("http", "env"),
    [
        (ANYWHERE, {}),
        ("port = 0", {"PEGBOARD__PLUGINS__HTTP__HOST": "0.0.0.0"}),
        ('port = 0\ntrusted_proxies = ["127.0.0.1"]', {}),
        ('socket = "s"\ntrusted_proxies = ["unix"]', {}),
        (ANYWHERE, ENGINE),
    ],
)
async def test_without_an_authenticator_it_does_not_start(fixture_site: Path, http: str, env: dict[str, str]) -> None:
    async with Served(fixture_site, http_config(http), env=env, ready=False) as served:
        assert await served.wait() == 3
        for named in ("auth_token", "resource_server", "[plugins.mcp] anonymous = true", "[plugins.mcp] http = false"):
            assert named in served.stderr
        assert "serves" not in served.stderr.partition("pegboard: ")[0]


@pytest.mark.parametrize(
    ("more", "env", "mcp", "worker"),
    [
        (OPEN_MCP, {}, 200, 404),
        (OPEN_MCP + DOOR, {}, 401, 404),
        (DOOR, ENGINE, 401, 401),
        ("[plugins.mcp]\nhttp = false\n", ENGINE, 404, 401),
        ("[plugins.mcp]\nhttp = false\n", {}, 404, 404),
    ],
)
async def test_it_starts_where_every_policy_has_one_or_needs_none(
    fixture_site: Path, more: str, env: dict[str, str], mcp: int, worker: int
) -> None:
    async with Served(fixture_site, http_config(ANYWHERE, more=more), env=env) as served:
        assert (await ask(served, message("tools/list"))).status == mcp
        assert (await served.request("GET", "/worker/tools")).status == worker
        assert (await served.request("GET", "/healthz")).status == 200


async def test_a_variable_of_the_existing_system_opens_no_address(fixture_site: Path) -> None:
    async with Served(fixture_site, env={"ARCADE_SERVER_HOST": "0.0.0.0"}) as served:
        assert "://127.0.0.1:" in served.url


# --- authenticators that are configured and do not run


@pytest.mark.parametrize(
    ("host", "env", "arguments"),
    [
        ("", {}, ["--safe"]),
        ('disabled_plugins = ["auth_*"]', {}, []),
        ("", {"PEGBOARD__HOST__DISABLED_PLUGINS": '["auth_token"]'}, []),
    ],
    ids=["--safe", "a glob", "a variable"],
)
async def test_what_an_authenticator_guarded_stays_closed_without_it(
    fixture_site: Path, host: str, env: dict[str, str], arguments: list[str]
) -> None:
    command: list[str | Path] = [PEGBOARD, "serve", *arguments]
    async with Served(fixture_site, http_config(host=host, more=DOOR), env=env, command=command) as served:
        refused = await served.request("POST", "/mcp")
        told = "This is closed, as an authenticator is disabled: auth_token. Its operator can enable it.\n"
        assert (refused.status, refused.text) == (403, told)
        assert (await served.request("POST", "/mcp", [served.proof])).status == 415  # the operator gets as far as MCP
        assert "it may authenticate callers of the policy 'mcp', which does not open without it" in served.stderr


async def test_what_is_disabled_by_its_name_is_meant(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config(host='disabled_plugins = ["auth_token"]', more=DOOR)) as served:
        assert (await ask(served, message("tools/list"))).status == 200
