"""A client that begins more than is good for it is answered all the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.plugin import ToolDefinition
from pegboard.types import LOCAL
from tests.support.peer import modern_meta
from tests.support.recorder import Conversation

kit = Toolkit("slow")


@kit.tool
async def hang(context: Context) -> str:
    """Wait for the end of the world."""
    await asyncio.Event().wait()
    return ""


class Line:
    """A connection that keeps what is sent."""

    peer = "test"

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.sent: list[dict[str, object]] = []
        self.expected = 0
        self.all_there = asyncio.Event()

    def send(self, message: bytes) -> None:
        self.sent.append(self.conversation.received(message))
        if len(self.sent) == self.expected:
            self.all_there.set()

    async def told(self, messages: list[bytes]) -> AsyncIterator[bytes]:
        """The client's messages, seen by the recorder first."""
        for message in messages:
            self.conversation.sent(message)
            yield message

    async def drain(self) -> None:
        """Nothing is held back."""

    async def close(self) -> None:
        """Nothing is open."""


def request(number: object, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


@pytest.mark.requirement("SEC-03")
async def test_more_than_may_run_are_refused_and_the_connection_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:

    from pegboard_plugins.mcp import message_stream

    line = Line()

    client = {"name": "flood", "version": "1"}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}
    messages = [
        request("i", "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client),
        *[request(number, "tools/call", name="slow_hang") for number in range(4)],
        json.dumps(cancel).encode(),
        request("p", "ping"),
    ]
    monkeypatch.setattr(message_stream, "MAX_REQUESTS_IN_FLIGHT", 3)
    monkeypatch.setattr(message_stream, "MAX_CAPACITY_WAIT_SECONDS", 0.01)
    async with Host({"host": {"autoload": False}}, toolkits={"slow": kit}) as host:
        await host.serve(line, line.told(messages), caller=LOCAL)
    answers = {answer["id"]: answer for answer in line.sent}
    assert set(answers) == {"i", 3, "p"}
    assert "3 requests are in flight" in str(answers[3]["error"])


async def test_who_sends_faster_than_it_is_served_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading goes on when there is room again, and nothing is refused."""

    from pegboard_plugins.mcp import message_stream

    released = asyncio.Event()
    slow = Toolkit("slow")

    @slow.tool
    async def wait() -> str:
        """Wait for the test."""
        await released.wait()
        return ""

    line = Line()
    line.expected = 13

    async def sent() -> AsyncIterator[bytes]:
        client = {"name": "flood", "version": "1"}
        yield request("i", "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        for number in range(12):
            if number % 4 == 3:
                released.clear()
                asyncio.get_running_loop().call_later(0.02, released.set)
            yield request(number, "tools/call", name="slow_wait")
        await asyncio.wait_for(line.all_there.wait(), 5)

    async def told() -> AsyncIterator[bytes]:
        async for message in sent():
            line.conversation.sent(message)
            yield message

    monkeypatch.setattr(message_stream, "MAX_REQUESTS_IN_FLIGHT", 3)
    async with Host({"host": {"autoload": False}}, toolkits={"slow": slow}) as host:
        await host.serve(line, told(), caller=LOCAL)
    assert [answer for answer in line.sent if "error" in answer] == []
    assert len(line.sent) == 13


@pytest.mark.requirement("LISTEN-05", "LISTEN-06")
async def test_the_end_of_a_connection_ends_its_subscriptions() -> None:
    """A host serves others afterwards: nothing may go on that tells somebody who is gone."""
    line = Line()
    meta = {**modern_meta(), "progressToken": 1}
    listen = request("l", "subscriptions/listen", notifications={"toolsListChanged": True}, _meta=meta)
    async with Host({"host": {"autoload": False}}, toolkits={"slow": kit}) as host:
        await host.serve(line, line.told([listen]), caller=LOCAL)
        assert [one.get("method", one.get("id")) for one in line.sent] == [
            "notifications/subscriptions/acknowledged",
            "l",
            "notifications/cancelled",
        ]


async def test_what_waits_to_be_told_ends_with_its_connection() -> None:
    """A client that does not read, of which the host has something to tell: nothing waits for it any more."""

    class Clogged(Line):
        def __init__(self) -> None:
            super().__init__()
            self.waiting = asyncio.Event()

        async def drain(self) -> None:
            self.waiting.set()
            await asyncio.Event().wait()

    line = Clogged()
    client = {"name": "flood", "version": "1"}
    opening = request("i", "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
    async with Host({"host": {"autoload": False}}, toolkits={"slow": kit}) as host:

        async def told() -> AsyncIterator[bytes]:
            line.conversation.sent(opening)
            yield opening
            host.catalogue.add(ToolDefinition(hang, name="late"))
            await asyncio.wait_for(line.waiting.wait(), 5)

        before = asyncio.all_tasks()
        await host.serve(line, told(), caller=LOCAL)
        left = asyncio.all_tasks() - before
        if left:
            await asyncio.wait(left, timeout=1)
        assert {task for task in left if not task.done()} == set()
