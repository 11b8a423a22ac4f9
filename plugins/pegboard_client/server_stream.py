"""The contract for message streams, on which both sides send at any time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol


class MessageStream(Protocol):
    """A connection to one server, such as the pipes of a process or a socket. It frames the messages."""

    def send(self, message: bytes) -> None:
        """Queue one JSON-RPC message without framing. Never block. If the stream is closed, drop the message."""

    async def drain(self) -> None:
        """Wait until the queue has room for more messages."""

    def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages of the server until they end.

        Raises:
            TransportError: the server broke the framing or exceeded a limit.
        """

    async def close(self) -> None:
        """Close the stream and release its resources."""
