"""A client of a message stream, in the process of the host."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from pegboard.plugin import Connection
from tests.support.recorder import Conversation


class MemoryClient(Connection):
    """The host's end of the stream: `await host.serve(client, client.messages(...))`.

    Args:
        finishes: calls in flight are completed at the end of the messages.
        is_slow: it reads nothing until `reads` is set.

    Attributes:
        sent: the messages of the host.
        reads: set while it reads.
    """

    peer = "stdio"
    transport = "stdio"

    def __init__(self, *, finishes: bool = True, is_slow: bool = False) -> None:
        self.finishes = finishes
        self.conversation = Conversation()
        self.sent: list[Any] = []
        self.reads = asyncio.Event()
        if not is_slow:
            self.reads.set()

    def send(self, message: bytes) -> None:
        self.sent.append(self.conversation.received(message))

    async def drain(self) -> None:
        await self.reads.wait()

    async def close(self) -> None:
        """Close nothing."""

    async def messages(self, *items: Any) -> AsyncIterator[bytes]:
        """Yield messages of the client."""
        for item in items:
            message = json.dumps(item).encode()
            self.conversation.sent(message)
            yield message
