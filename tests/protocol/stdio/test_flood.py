"""Connections that begin more requests than may run, and their end in a host that goes on."""

from __future__ import annotations

import asyncio
import json

import pytest

from pegboard import Host, Toolkit
from pegboard.types import LOCAL
from pegboard_plugins.mcp import message_stream
from tests.support.memory_line import MemoryLine, request
from tests.support.peer import modern_meta

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "flood", "version": "1"}}
OPENING = request("i", "initialize", **CLIENT)


class Slow:
    """A host with a tool that waits until it is released."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        kit = Toolkit("slow")
        kit.tool(self.wait)
        self.host = Host({"host": {"autoload": False}}, toolkits={"slow": kit})

    async def wait(self) -> str:
        """Wait."""
        await self.released.wait()
        return ""


def calls(many: int) -> list[bytes]:
    return [request(number, "tools/call", name="slow_wait") for number in range(many)]


@pytest.mark.requirement("SEC-03")
async def test_requests_beyond_the_limit_are_refused_and_the_connection_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(message_stream, "MAX_REQUESTS_IN_FLIGHT", 3)
    monkeypatch.setattr(message_stream, "MAX_CAPACITY_WAIT_SECONDS", 0.01)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}
    line = MemoryLine([OPENING, *calls(4), json.dumps(cancel).encode(), request("p", "ping")])
    async with Slow().host as host:
        await host.serve(line, line.incoming(), caller=LOCAL)
    answers = {answer["id"]: answer for answer in line.sent}
    assert set(answers) == {"i", 3, "p"}
    assert "3 requests are in flight" in str(answers[3]["error"])


@pytest.mark.requirement("LISTEN-05", "LISTEN-06")
async def test_the_end_of_a_connection_ends_its_subscriptions() -> None:
    meta = {**modern_meta(), "progressToken": 1}
    listen = request("l", "subscriptions/listen", notifications={"toolsListChanged": True}, _meta=meta)
    line = MemoryLine([listen])
    async with Slow().host as host:
        await host.serve(line, line.incoming(), caller=LOCAL)
        assert [one.get("method", one.get("id")) for one in line.sent] == [
            "notifications/subscriptions/acknowledged",
            "l",
            "notifications/cancelled",
        ]
