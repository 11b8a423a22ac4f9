"""Messages that wait for a client of a message stream that does not read."""

from __future__ import annotations

import asyncio

import pytest

from pegboard import Host
from pegboard.types import ANONYMOUS
from pegboard_plugins.mcp import McpConfig, message_stream
from pegboard_plugins.mcp.connection_writer import ConnectionWriter
from pegboard_plugins.mcp.mcp_service import McpService
from pegboard_plugins.mcp.message_queue import MessageQueue
from pegboard_plugins.mcp.round_trips import RoundTrips
from pegboard_plugins.mcp.send_queue import SendQueue


class Line:
    """A connection that takes as many messages as a test lets it."""

    peer = "test"

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.room = asyncio.Semaphore(0)

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def drain(self) -> None:
        await self.room.acquire()

    async def close(self) -> None:
        """Close nothing."""

    async def take(self, count: int) -> list[bytes]:
        for _ in range(count):
            self.room.release()
        for _ in range(20):
            await asyncio.sleep(0)
        return self.sent


async def test_a_response_waits_behind_its_notifications_and_delays_no_other_queue() -> None:
    line, sent = Line(), asyncio.Event()
    writer, changes = ConnectionWriter(line), MessageQueue()
    queue = SendQueue(line, writer, sent.set)
    for message, keep in ((b"first", True), (b"note", False), (b"response", True)):
        queue.send(message, keep=keep)
    changes.send(b"changed", key="tools")
    writer.write_soon(changes)
    assert (await line.take(0), queue.kept) == ([b"first"], 1)
    assert (await line.take(5), queue.kept) == ([b"first", b"note", b"changed", b"response"], 0)
    assert sent.is_set()
    queue.send(b"last", keep=False)
    queue.end()
    assert line.sent[-1] == b"last"


async def test_a_connection_whose_responses_wait_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_stream, "MAX_REQUESTS_IN_FLIGHT", 2)
    line = Line()
    async with Host() as host:
        service = McpService(host, McpConfig(), RoundTrips((), 1))
        stream = message_stream.StreamConnection(line, service, 1, ANONYMOUS)
        stream._send_queue.send(b"note", keep=False)
        full = []
        for number in range(2):
            full.append(stream.is_full)
            stream.receive(b'{"jsonrpc": "2.0", "id": %d, "method": "nothing"}' % number)
        full.append(stream.is_full)
        await line.take(4)
        await stream.wait_for_room()
        full.append(stream.is_full)
        await stream.end()
    assert full == [False, False, True, False]
