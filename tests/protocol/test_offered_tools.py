"""Tools without their secret or token, as clients of one host list them over each transport."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.protocols.worker.conftest import SECRET, Engine, token
from tests.support.distributions import make_distribution
from tests.support.mcp_client import NEWEST, McpServer, text_of

KIT = '''
from pegboard import Toolkit
from pegboard_plugins.auth.auth_providers import GitHub

kit = Toolkit("needy")


@kit.tool
def free() -> str:
    """Need nothing."""
    return "free"


@kit.tool(requires_secrets=["NEEDY_KEY"])
def keyed() -> str:
    """Need a key."""
    return "keyed"


@kit.tool(requires_auth=GitHub())
def starred() -> str:
    """Need a token."""
    return "starred"
'''
ALL = ["needy_free", "needy_keyed", "needy_starred"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("needy")
    make_distribution(folder, "needy", "1", {"pegboard.toolkits": {"needy": "needy_kit:kit"}}, {"needy_kit.py": KIT})
    return folder


async def names(client: Any) -> list[str]:
    return [tool["name"] for tool in (await client.result("tools/list"))["tools"]]


async def test_over_stdio_they_are_not_offered_and_a_line_says_how_to_get_them(site: Path) -> None:
    async with McpServer("stdio", site) as server:
        legacy, modern = [await server.client(revision) for revision in NEWEST]
        assert await names(legacy) == await names(modern) == ALL[:1]
        answer = await modern.call("needy_keyed")
        assert (answer["isError"], "NEEDY_KEY" in text_of(answer)) == (True, True)
        for name, advice in (("NEEDY_KEY", "secret set NEEDY_KEY"), ("GITHUB_TOKEN", "login github")):
            await server.wait_for_stderr(rf"1 tool needs {name} and is not offered over stdio: .*`pegboard {advice}`")
    assert len(re.findall("not offered", server.stderr)) == 2 * len(NEWEST)
    async with McpServer("stdio", site, env={"GITHUB_TOKEN": "token", "NEEDY_KEY": "key"}) as server:
        client = await server.client(NEWEST[-1])
        assert await names(client) == ALL
        assert await client.text("needy_starred") == "starred"


async def test_callers_over_http_and_the_worker_find_them(site: Path) -> None:
    for operator in (False, True):
        env = {"ARCADE_WORKER_SECRET": SECRET}
        async with McpServer("http", site, env=env, more="[plugins.worker]", operator=operator) as server:
            for revision in NEWEST:
                assert await names(await server.client(revision)) == ALL
            answer = await Engine(server.served, f"Bearer {token()}").ask("GET", "tools")
            assert [tool["name"] for tool in answer.body] == ["Free", "Keyed", "Starred"]
