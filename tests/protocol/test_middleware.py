"""Third-party middleware sees requests, nested calls and notifications, refuses calls, and hides tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.distributions import make_sample_site
from tests.support.mcp_client import McpClient, McpServer
from tests.support.schemas import LEGACY, MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_sample_site(tmp_path_factory.mktemp("audit"), "acme_audit")


async def trail(client: McpClient) -> list[str]:
    lines: list[str] = json.loads(await client.text("audit_trail"))
    return lines


@pytest.mark.parametrize("revision", [LEGACY[0], MODERN[-1]])
async def test_it_sees_requests_nested_calls_and_notifications(transport: str, site: Path, revision: str) -> None:
    async with McpServer(transport, site, more="[plugins.acme_audit]") as server:
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
        await client.notify("notifications/cancelled", {"requestId": 999, "reason": "test"})
        await client.notify("notifications/made/up")
        heard = [line for line in await trail(client) if line.startswith("notifications/")]
        assert heard == ([] if client.modern else ["notifications/initialized"]) + ["notifications/cancelled"]
