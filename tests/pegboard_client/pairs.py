"""Two ends of a message stream in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from pegboard.plugin import Connection


class MemoryEnd(Connection):
    """One end: a `MessageStream` of a client, or a `Connection` of a host."""

    peer = "memory"

    def __init__(self) -> None:
        self.other: MemoryEnd
        self.kept: Any = None
        self._received: asyncio.Queue[bytes | None] = asyncio.Queue()

    def send(self, message: bytes) -> None:
        self.other._received.put_nowait(message)

    async def drain(self) -> None:
        """The queue is unlimited."""

    async def messages(self) -> AsyncIterator[bytes]:
        while (message := await self._received.get()) is not None:
            yield message

    async def close(self) -> None:
        self.other._received.put_nowait(None)


class StreamPair:
    def __init__(self) -> None:
        self.client, self.server = MemoryEnd(), MemoryEnd()
        self.client.other, self.server.other = self.server, self.client
