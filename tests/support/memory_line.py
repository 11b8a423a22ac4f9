"""A connection to a host in the process of the test: messages go in as a list; the recorder sees them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

from tests.support.peer import WAIT
from tests.support.recorder import Conversation


def request(request_id: object, method: str, **params: object) -> bytes:
    """Return the line of a request."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode()


class MemoryLine:
    """The host's end of a connection.

    Args:
        messages: the client's messages.
        expected: the number of messages of the host after which the client closes its end; at once for 0.
    """

    peer = "test"

    def __init__(self, messages: Iterable[bytes], expected: int = 0) -> None:
        self._messages = messages
        self._expected = expected
        self._complete = asyncio.Event()
        self.conversation = Conversation()
        self.sent: list[dict[str, Any]] = []

    def send(self, message: bytes) -> None:
        self.sent.append(self.conversation.received(message))
        if len(self.sent) == self._expected:
            self._complete.set()

    async def incoming(self) -> AsyncIterator[bytes]:
        for message in self._messages:
            self.conversation.sent(message)
            yield message
        if self._expected:
            async with asyncio.timeout(WAIT):
                await self._complete.wait()

    async def drain(self) -> None:
        """Hold nothing back."""

    async def close(self) -> None:
        """Close nothing."""
