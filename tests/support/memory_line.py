"""A connection to a host in the process of the test; the recorder sees its messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

from tests.support.recorder import Conversation


def request(request_id: object, method: str, **params: object) -> bytes:
    """Return the line of a request."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode()


class MemoryLine:
    """The host's end of a connection whose client sends messages and closes its end."""

    peer = "test"

    def __init__(self, messages: Iterable[bytes]) -> None:
        self._messages = messages
        self.conversation = Conversation()
        self.sent: list[dict[str, Any]] = []

    def send(self, message: bytes) -> None:
        self.sent.append(self.conversation.received(message))

    async def incoming(self) -> AsyncIterator[bytes]:
        for message in self._messages:
            self.conversation.sent(message)
            yield message

    async def drain(self) -> None:
        """Hold nothing back."""

    async def close(self) -> None:
        """Close nothing."""
