"""`pegboard_client` and servers of the official SDK's two lines, over both transports and in both eras."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard_client import Asked, Client, Endpoint, Program
from tests.support.sdk import SCRIPTS, WAIT, sdk_python

SERVER = str(SCRIPTS / "sdk_server.py")


async def ask(question: Asked) -> Mapping[str, Any]:
    assert question.message == "Your name?"
    return {"action": "accept", "content": {"name": "Ann"}}


@asynccontextmanager
async def address(line: str, transport: str) -> AsyncIterator[Endpoint | Program]:
    """Return the address of a new server."""
    python = str(sdk_python(line))
    if transport == "stdio":
        yield Program(python, [SERVER, "stdio"])
        return
    process = await asyncio.create_subprocess_exec(python, SERVER, "http", stderr=subprocess.PIPE)
    assert process.stderr
    try:
        async with asyncio.timeout(WAIT):
            while not (found := re.search(rb"running on (http://\S+)", await process.stderr.readline())):
                pass
        yield Endpoint(f"{found[1].decode()}/mcp")
    finally:
        process.kill()
        await process.communicate()


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(
    ("line", "wanted", "revision"),
    [("1", None, "2025-11-25"), ("2", "2025-06-18", "2025-06-18"), ("2", None, "2026-07-28")],
)
async def test_it_uses_servers_of_the_sdk(line: str, wanted: str | None, revision: str, transport: str) -> None:
    told, steps, changed = [], [], asyncio.Event()

    def hear(method: str, params: Mapping[str, Any]) -> None:
        told.append(method)
        changed.set()

    async with (
        address(line, transport) as server,
        Client(server, revision=wanted, ask=ask, on_notification=hear) as client,
        asyncio.timeout(WAIT),
    ):
        assert (client.revision, client.server.capabilities["tools"].keys()) == (revision, {"listChanged"})
        assert len(await client.tools()) == 4
        assert (await client.call("add", {"a": 1, "b": 2}))["structuredContent"] == {"result": 3}
        assert (await client.call("greet"))["content"][0]["text"] == "Hello, Ann"
        await client.call("count", progress=lambda one: steps.append(one["progress"]))
        assert steps == [1, 2, 3]
        assert (await client.read("peer://text"))["contents"][0]["text"] == "text"
        assert (await client.prompt("review"))["messages"][0]["content"]["text"] == "Review."
        await client.listen()
        await client.call("grow")
        await changed.wait()
        assert set(told) == {"notifications/tools/list_changed"}
        assert len(await client.tools()) == 5
