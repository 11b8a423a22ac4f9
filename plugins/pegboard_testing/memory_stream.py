"""A connection in memory between a test's client and its host: JSON-RPC messages as bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Literal, TypeAlias

from pegboard.plugin.transports import Connection
from pegboard.wire.codec import decode
from pegboard_client.in_flight import Message

Traffic: TypeAlias = tuple[Literal["sent", "received"], bytes]
"""One message, and which side sent it."""


class MemoryConnection(Connection):
    """The host's end: a `pegboard.plugin.Connection`.

    Args:
        take: receives each message of the host.
    """

    peer = "test"

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take: Callable[[bytes], None] | None = take
        self._messages: asyncio.Queue[bytes | None] = asyncio.Queue()

    def feed(self, message: bytes | None) -> None:
        """Add a message of the client. None ends the stream of messages."""
        self._messages.put_nowait(message)

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages of the client until they end."""
        while (message := await self._messages.get()) is not None:
            yield message

    def send(self, message: bytes) -> None:
        """Pass a message to the client at once."""
        if self._take is not None:
            self._take(message)

    async def drain(self) -> None:
        """Let the client run. The queue is unlimited."""
        await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop passing messages to the client."""
        self._take = None


class MemoryStream:
    """The client's end: a `pegboard_client.MessageStream`.

    Args:
        hear: called with each notification of the host, before the client receives it.

    Attributes:
        traffic: every message, in order.
        host_connection: the connection that the host serves.
    """

    def __init__(self, hear: Callable[[Message], None]) -> None:
        self.host_connection = MemoryConnection(self._take)
        self.traffic: list[Traffic] = []
        self._hear = hear
        self._received: asyncio.Queue[bytes | None] = asyncio.Queue()

    def send(self, message: bytes) -> None:
        """Pass a message to the host."""
        self.traffic.append(("sent", message))
        self.host_connection.feed(message)

    async def drain(self) -> None:
        """Return at once. The queue is unlimited."""

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages of the host until it ends the connection."""
        while (message := await self._received.get()) is not None:
            yield message

    async def close(self) -> None:
        """End the messages of the client."""
        self.host_connection.feed(None)

    def host_ended(self) -> None:
        """End the messages of the host."""
        self._received.put_nowait(None)

    def _take(self, data: bytes) -> None:
        self.traffic.append(("received", data))
        message = decode(data)
        if "method" in message and "id" not in message:
            self._hear({"method": message["method"], "params": message.get("params", {})})
        self._received.put_nowait(data)
