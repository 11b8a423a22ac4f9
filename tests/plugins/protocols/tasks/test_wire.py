"""Tasks over the wire: subscriptions, which the official suite skips, and both transports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.protocols.tasks import jobs_kit
from tests.plugins.protocols.tasks.messages import ADDED, DECLARED
from tests.support.mcp_client import TRANSPORTS, HttpClient, McpServer
from tests.support.peer import META
from tests.support.pool import make_site

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_stream_is_notified_of_each_state(transport: str, tmp_path: Path) -> None:
    make_site(tmp_path, {"jobs": jobs_kit})
    async with McpServer(transport, tmp_path, more='[plugins.tasks]\nstore = "memory"\n', added=ADDED) as server:
        client = await server.client("2026-07-28", DECLARED)
        task = await client.result("tools/call", {"name": "jobs_ask", "arguments": {"name": "corn"}})
        wanted = {"taskIds": [task["taskId"]]}
        stream = await client.begin("subscriptions/listen", {"notifications": wanted})
        assert (await stream.next())["params"]["notifications"] == wanted
        states = [await stream.next()]
        while states[-1]["params"]["status"] != "input_required":
            states.append(await stream.next())
        if isinstance(client, HttpClient):
            client.fields = [("Mcp-Name", task["taskId"])]
        answers = {"go_on": {"action": "accept", "content": {"value": True}}}
        await client.result("tasks/update", {"taskId": task["taskId"], "inputResponses": answers})
        while states[-1]["params"]["status"] != "completed":
            states.append(await stream.next())
        last = states[-1]
        assert (last["method"], last["params"]["result"]["content"][0]["text"]) == ("notifications/tasks", "corn True")
        assert last["params"]["_meta"] == {f"{META}subscriptionId": stream.id}
        await client.result("tasks/cancel", {"taskId": task["taskId"]})
        assert (await client.result("tasks/get", {"taskId": task["taskId"]}))["status"] == "completed"
