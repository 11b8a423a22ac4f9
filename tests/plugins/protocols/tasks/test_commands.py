"""Tasks of servers: commands and clients beside them, streams, killed servers, and servers that share state."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from pegboard.errors import ProtocolError
from pegboard_client import TaskCancelledError
from tests.host.hosting import until
from tests.plugins.protocols.tasks import jobs_kit
from tests.plugins.protocols.tasks.kills import ADDED, ANSWER, DECLARED, run, server
from tests.support.mcp_client import TRANSPORTS, HttpClient, McpServer
from tests.support.peer import META
from tests.support.pool import make_site
from tests.support.redis_server import RedisServer, needs_redis
from tests.support.typist import heed_interrupts
from tests.support.wire import PEGBOARD, client_environment

pytestmark = pytest.mark.timeout(120)


async def command(folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    environment = client_environment(folder, {"PYTHONPATH": str(folder), "PEGBOARD_STATE_DIR": str(folder / "state")})
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        str(PEGBOARD),
        *arguments,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=heed_interrupts,
    )


async def output(folder: Path, *arguments: str) -> Any:
    process = await command(folder, *arguments, "--json", "--config", "hostconfig.toml")
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return json.loads(out)


@pytest.mark.needs("tool_commands")
async def test_the_operator_and_clients_see_the_same_tasks(tmp_path: Path) -> None:
    make_site(tmp_path, {"jobs": jobs_kit})
    async with server(tmp_path) as (url, client):
        states = list[Any]()
        ask = AsyncMock(return_value=ANSWER)
        result = await client.call_as_task("jobs_ask", {"name": "corn"}, watch=states.append, ask=ask)
        assert result["content"][0]["text"] == "corn True"
        assert [states[0]["status"], states[-1]["status"]] == ["working", "completed"]
        with pytest.raises(ProtocolError, match="broken"):
            await client.call_as_task("jobs_fail")
        holding = asyncio.create_task(client.call_as_task("jobs_hold", watch=states.append))
        await until(lambda: states[-1].get("statusMessage") == "half is done")
        await client.cancel_task(states[-1]["taskId"])
        with pytest.raises(TaskCancelledError):
            await holding

        by_url = await command(tmp_path, "call", "jobs_fail", "--task", "--url", url)
        assert b"broken" in (await by_url.communicate())[1]
        shown = await command(tmp_path, "call", "jobs_hold", "--task", "--config", "hostconfig.toml")
        assert shown.stderr is not None
        try:
            begun = (await shown.stderr.readline()).decode()
            while b"half is done" not in (line := await shown.stderr.readline()):
                assert line, "the command has ended"
            shown.send_signal(signal.SIGINT)
            _, rest = await shown.communicate()
        finally:
            with suppress(ProcessLookupError):
                shown.kill()
        task_id = begun.split()[3]
        assert f"--resume {task_id}" in rest.decode()

        listed = await output(tmp_path, "tasks", "list")
        assert {row["status"] for row in listed} == {"working", "completed", "failed", "cancelled"}
        assert (await output(tmp_path, "tasks", "show", task_id[:8]))["message"] == "half is done"
        assert (await output(tmp_path, "tasks", "cancel", task_id))["status"] == "cancelled"
        resumed = await command(tmp_path, "call", "jobs_hold", "--resume", task_id, "--config", "hostconfig.toml")
        assert f"{task_id} was cancelled" in (await resumed.communicate())[1].decode()


async def begin(client: Any, tool: str, **arguments: str) -> str:
    """Call a tool, and return the id of its task."""
    task_id: str = (await client.result("tools/call", {"name": tool, "arguments": arguments}))["taskId"]
    return task_id


async def status(stream: Any, wanted: str) -> Any:
    """Return the first notification of a status."""
    while (sent := await stream.next())["params"].get("status") != wanted:
        pass
    assert sent["method"] == "notifications/tasks"
    return sent["params"]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_stream_is_notified_of_each_state(transport: str, tmp_path: Path) -> None:
    make_site(tmp_path, {"jobs": jobs_kit})
    async with McpServer(transport, tmp_path, more='[plugins.tasks]\nstore = "memory"\n', added=ADDED) as server:
        client = await server.client("2026-07-28", DECLARED)
        task_id = await begin(client, "jobs_ask", name="corn")
        wanted = {"taskIds": [task_id]}
        stream = await client.begin("subscriptions/listen", {"notifications": wanted})
        assert (await stream.next())["params"]["notifications"] == wanted
        await status(stream, "input_required")
        if isinstance(client, HttpClient):
            client.fields = [("Mcp-Name", task_id)]
        await client.result("tasks/update", {"taskId": task_id, "inputResponses": {"go_on": ANSWER}})
        last = await status(stream, "completed")
        assert last["result"]["content"][0]["text"] == "corn True"
        assert last["_meta"] == {f"{META}subscriptionId": stream.id}
        await client.result("tasks/cancel", {"taskId": task_id})
        assert (await client.result("tasks/get", {"taskId": task_id}))["status"] == "completed"


@pytest.mark.parametrize(
    "store", ["memory", "sqlite", pytest.param("redis", marks=[needs_redis, pytest.mark.needs("redis")])]
)
async def test_each_task_ends_once_although_servers_are_killed(store: str, tmp_path: Path) -> None:
    endings = await run(kills=3, tasks=24, folder=tmp_path, store=store)
    assert endings.total() > 0


STATE = 'state = "redis"\nstate_keys = ["0123456789abcdef0123456789abcdef"]'
SECRET = "marked-value-4711"


@needs_redis
@pytest.mark.needs("redis")
async def test_a_connection_without_http_shares_tasks_too(tmp_path: Path) -> None:
    make_site(tmp_path, {"jobs": jobs_kit})
    with RedisServer() as redis:
        async with McpServer("stdio", tmp_path, host=STATE, more=redis.config, added=ADDED) as server:
            client = await server.client("2026-07-28", DECLARED)
            task_id = await begin(client, "jobs_ask", name="corn")
            assert (await client.result("tasks/get", {"taskId": task_id}))["taskId"] == task_id
            assert len(redis.client.keys("*:record:*")) == len(redis.client.keys("*:process:*")) == 1


@needs_redis
@pytest.mark.needs("redis")
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
            await here.result("tasks/update", {"taskId": asking, "inputResponses": {"go_on": ANSWER}})
            assert (await status(listening, "completed"))["result"]["content"][0]["text"] == "corn True"
