"""A stranger's middleware over HTTP: it hears notifications, and keeps tools from those who may not see them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.audit import make_audit_site
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, message

pytestmark = pytest.mark.asyncio(loop_scope="module")

PRIVATE = '[plugins.acme_audit]\nprivate = ["audit_nested"]\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_audit_site(tmp_path_factory.mktemp("audit"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(site: Path) -> AsyncIterator[Served]:
    """For this machine's user."""
    async with Served(site, http_config(more=PRIVATE), operator=True) as served:
        yield served


def listed(result: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in result["tools"]]


async def test_it_hears_what_comes_in_sessions(served: Served) -> None:
    session = Session(served)
    await session.open()
    await session.post({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    result = (await session.post(call("audit_trail"))).result
    lines = json.loads(result["content"][0]["text"])
    heard = [line for line in lines if line.startswith("notifications/")]
    assert heard[-2:] == ["notifications/initialized", "notifications/roots/list_changed"]


async def test_those_who_may_see_a_tool_do(served: Served) -> None:
    result = (await ask(served, message("tools/list"))).result
    assert listed(result) == ["audit_nested", "audit_trail"]
    assert result["cacheScope"] == "private"
    assert (await ask(served, call("audit_nested"))).result["isError"] is False


@pytest.mark.requirement("TOOL-09")
async def test_for_others_it_is_not_there(site: Path) -> None:
    async with Served(site, http_config(more=PRIVATE)) as served:
        session = Session(served)
        await session.open()
        result = (await ask(served, message("tools/list"))).result
        assert listed(result) == listed((await session.post(message("tools/list"))).result) == ["audit_trail"]
        assert result["cacheScope"] == "private"
        hidden, missing = [(await ask(served, call(name))).last["error"] for name in ("audit_nested", "audit_other")]
        assert hidden == {**missing, "message": "Unknown tool: audit_nested"}
        assert (await session.post(call("audit_nested"))).last["error"]["code"] == -32602
