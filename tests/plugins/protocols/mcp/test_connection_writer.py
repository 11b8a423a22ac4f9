"""Messages that wait for a client of a message stream that does not read."""

from __future__ import annotations

import asyncio

from pegboard.plugin import Connection
from pegboard_plugins.protocols.mcp.connection_writer import ConnectionWriter, SendQueue
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue


class Line(Connection):
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
