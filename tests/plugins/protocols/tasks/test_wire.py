"""Tasks over the wire: subscriptions, which the official suite skips, and both transports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.protocols.tasks.messages import ADDED, DECLARED
from tests.support.distributions import make_distribution
from tests.support.mcp_client import TRANSPORTS, HttpClient, McpServer
from tests.support.peer import META

pytestmark = pytest.mark.asyncio

KIT = """
from pegboard import Context, Toolkit

kit = Toolkit("jobs")


@kit.tool(task="optional")
async def ask(context: Context, name: str) -> str:
    '''Ask once.'''
    answer = await context.ui.elicit("Go on?", bool, name="go_on")
    return f"{name} {answer.content}"
"""


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_stream_is_notified_of_each_state(transport: str, tmp_path: Path) -> None:
    make_distribution(tmp_path, "jobs-kit", "1", {"pegboard.toolkits": {"jobs": "jobs_kit:kit"}}, {"jobs_kit.py": KIT})
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
