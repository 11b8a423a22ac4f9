"""What waits for a client of a message stream that does not read."""

from __future__ import annotations

import asyncio

import pytest

from pegboard_plugins.mcp.connection_writer import ConnectionWriter
from pegboard_plugins.mcp.message_queue import MessageQueue
from pegboard_plugins.mcp.send_queue import SendQueue


class Line:
    """A connection that takes one message at a time."""

    peer = "test"

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.room = asyncio.Semaphore(0)

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def drain(self) -> None:
        await self.room.acquire()

    async def close(self) -> None:
        """Nothing is open."""


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_response_waits_behind_what_its_call_said_and_counts_until_it_is_sent() -> None:
    line = Line()
    passed = asyncio.Event()
    backlog = SendQueue(line, ConnectionWriter(line), passed.set)
    backlog.send(b"first", keep=True)
    backlog.send(b"note", keep=False)
    backlog.send(b"response", keep=True)
    await turns()
    assert line.sent == [b"first"]
    assert backlog.kept == 1
    for _ in range(3):
        line.room.release()
    await turns()
    assert line.sent == [b"first", b"note", b"response"]
    assert backlog.kept == 0
    assert passed.is_set()


async def test_what_waits_at_the_end_is_passed_on() -> None:
    line = Line()
    backlog = SendQueue(line, ConnectionWriter(line), lambda: None)
    backlog.send(b"note", keep=False)
    backlog.send(b"response", keep=True)
    backlog.end()
    assert line.sent == [b"note", b"response"]


async def test_one_that_always_has_something_to_say_holds_up_nobody() -> None:
    line = Line()
    writer = ConnectionWriter(line)
    backlog = SendQueue(line, writer, lambda: None)
    news = MessageQueue()
    for _ in range(5):
        backlog.send(b"note", keep=False)
    news.send(b"changed", key="tools")
    writer.tell(news)
    for _ in range(2):
        line.room.release()
    await turns()
    assert line.sent == [b"note", b"changed"]


async def test_a_connection_whose_responses_wait_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    from pegboard import Host
    from pegboard.types import ANONYMOUS
    from pegboard_plugins.mcp import McpConfig, message_stream
    from pegboard_plugins.mcp.mcp_service import McpService
    from pegboard_plugins.mcp.round_trips import RoundTrips

    monkeypatch.setattr(message_stream, "MAX_REQUESTS_IN_FLIGHT", 2)
    line = Line()
    async with Host() as host:
        service = McpService(host, McpConfig(), RoundTrips((), 1))
        conversation = message_stream.StreamConversation(line, service, 1, ANONYMOUS)
        conversation._send_queue.send(b"note", keep=False)
        full = []
        for number in range(2):
            full.append(conversation.is_full)
            conversation.receive(b'{"jsonrpc": "2.0", "id": %d, "method": "nothing"}' % number)
        full.append(conversation.is_full)
        for _ in range(4):
            line.room.release()
        await conversation.wait_for_room()
        full.append(conversation.is_full)
        await conversation.end()
    assert full == [False, False, True, False]
