"""Third-party middleware sees requests, nested calls and notifications, refuses calls, and hides tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.audit import make_audit_site
from tests.support.mcp_client import McpClient, McpServer, text_of
from tests.support.schemas import LEGACY, MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")

REVISIONS = pytest.mark.parametrize("revision", [LEGACY[0], LEGACY[-1], MODERN[-1]])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_audit_site(tmp_path_factory.mktemp("audit"))


def audited(transport: str, site: Path, more: str = "", *, operator: bool = False) -> McpServer:
    return McpServer(transport, site, more=f"[plugins.acme_audit]\n{more}", operator=operator)


async def trail(client: McpClient) -> list[str]:
    lines: list[str] = json.loads(await client.text("audit_trail"))
    return lines


@REVISIONS
async def test_it_sees_requests_and_nested_calls(transport: str, site: Path, revision: str) -> None:
    async with audited(transport, site) as server:
        client = await server.client(revision)
        await client.result("tools/list")
        assert (await client.call("audit_nested"))["isError"] is False
        assert (await client.error("tools/call", {"name": "made_up", "arguments": {}}))["code"] == -32602
        lines = [line for line in await trail(client) if not line.startswith("notifications/")]
    nested = lines.pop(2)
    assert lines == [
        "tools/list",
        "tools/call audit_nested",
        "tools/call made_up",
        "tools/call made_up: NotFoundError",
        "tools/call audit_trail",
    ]
    assert nested.startswith("tools/call audit_")
    assert nested.endswith(" audit_trail")


@REVISIONS
async def test_it_refuses_calls_and_hears_notifications_without_changing_their_effect(
    transport: str, site: Path, revision: str
) -> None:
    async with audited(transport, site, 'stopped = ["audit_nested"]') as server:
        client = await server.client(revision)
        refused = await client.call("audit_nested")
        assert (refused["isError"], text_of(refused)) == (True, "This tool has been stopped.")
        assert refused["_meta"]["pegboard/error"]["kind"] == "TOOL_RUNTIME_FATAL"
        sent = ["notifications/cancelled", "notifications/progress"]
        await client.notify("notifications/cancelled", {"requestId": 999, "reason": "test"})
        await client.notify("notifications/progress", {"progressToken": 999, "progress": 1})
        if not client.modern:
            sent = ["notifications/initialized", *sent, "notifications/roots/list_changed"]
            await client.notify("notifications/roots/list_changed")
        await client.notify("notifications/made/up")
        heard = [line for line in await trail(client) if line.startswith("notifications/")]
        assert heard == sent


@pytest.mark.requirement("TOOL-09")
@pytest.mark.parametrize("operator", [True, False])
async def test_a_tool_that_it_hides_is_not_there_for_other_callers(site: Path, operator: bool) -> None:
    async with audited("http", site, 'private = ["audit_nested"]', operator=operator) as server:
        for client in (await server.client(MODERN[-1]), await server.client()):
            result = await client.result("tools/list")
            seen = ["audit_nested", "audit_trail"] if operator else ["audit_trail"]
            assert [tool["name"] for tool in result["tools"]] == seen
            assert result.get("cacheScope") == ("private" if client.modern else None)
            if operator:
                assert (await client.call("audit_nested"))["isError"] is False
                continue
            hidden, missing = [
                await client.error("tools/call", {"name": name, "arguments": {}})
                for name in ("audit_nested", "audit_no")
            ]
            assert hidden == {**missing, "message": "Unknown tool: audit_nested"}
