"""Tasks of two processes that share state: each change reaches the streams and the legs of the other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.protocols.tasks import jobs_kit
from tests.plugins.protocols.tasks.messages import ADDED, DECLARED
from tests.support.mcp_client import McpServer
from tests.support.pool import make_site
from tests.support.redis_server import RedisServer, needs_redis

pytestmark = [needs_redis, pytest.mark.needs("redis"), pytest.mark.asyncio]

STATE = 'state = "redis"\nstate_keys = ["0123456789abcdef0123456789abcdef"]'
SECRET = "marked-value-4711"


async def begin(client: Any, tool: str, **arguments: str) -> str:
    """Call a tool, and return the id of its task."""
    task_id: str = (await client.result("tools/call", {"name": tool, "arguments": arguments}))["taskId"]
    return task_id


async def status(stream: Any, wanted: str) -> Any:
    """Return the first notification of a status."""
    while (params := (await stream.next())["params"]).get("status") != wanted:
        pass
    return params


async def test_a_connection_without_http_shares_tasks_too(tmp_path: Path) -> None:
    make_site(tmp_path, {"jobs": jobs_kit})
    with RedisServer() as redis:
        async with McpServer("stdio", tmp_path, host=STATE, more=redis.config, added=ADDED) as server:
            client = await server.client("2026-07-28", DECLARED)
            task_id = await begin(client, "jobs_ask", name="corn")
            assert (await client.result("tasks/get", {"taskId": task_id}))["taskId"] == task_id
            assert len(redis.client.keys("*:record:*")) == len(redis.client.keys("*:process:*")) == 1


async def test_any_process_cancels_answers_and_notifies(tmp_path: Path) -> None:
    make_site(tmp_path, {"jobs": jobs_kit})
    with RedisServer() as redis:
        servers = [McpServer("http", tmp_path, host=STATE, more=redis.config, added=ADDED) for _ in range(2)]
        async with servers[0], servers[1]:
            here, there = [await server.client("2026-07-28", DECLARED) for server in servers]
            left = tmp_path / SECRET
            waiting, asking = await begin(here, "jobs_hold", path=str(left)), await begin(here, "jobs_ask", name="corn")
            listening = await there.begin("subscriptions/listen", {"notifications": {"taskIds": [waiting, asking]}})
            await status(listening, "input_required")
            assert SECRET.encode() not in redis.dump()
            await there.result("tasks/cancel", {"taskId": waiting})
            await status(listening, "cancelled")
            async with asyncio.timeout(20):
                while not left.exists():  # the function runs in the first process
                    await here.result("tools/list", {})
            answers = {"go_on": {"action": "accept", "content": {"value": True}}}
            await here.result("tasks/update", {"taskId": asking, "inputResponses": answers})
            assert (await status(listening, "completed"))["result"]["content"][0]["text"] == "corn True"
