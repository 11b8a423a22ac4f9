"""What the client of a session hears of changes, whichever line of the SDK it is. Runs in the client's environment."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

Subscribe = Callable[[str], Awaitable[object]]


class Hearing:
    """The changes that a session was told of, in order."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[str](1000)

    async def message(self, message: Any) -> None:
        """Take what the SDK gives to a `message_handler`."""
        one = getattr(message, "root", message)  # the first line wraps it
        method = getattr(one, "method", "")
        if method == "notifications/resources/updated":
            await self._send.send(str(one.params.uri))
        elif method.endswith("/list_changed"):
            await self._send.send(method.split("/")[1])

    async def next(self) -> str:
        """The next of them."""
        return await self._receive.receive()

    async def end(self) -> str:
        """Sessions do not say that they end."""
        raise NotImplementedError

    @asynccontextmanager
    async def of(self, uris: Sequence[str], subscribe: Subscribe, unsubscribe: Subscribe) -> AsyncIterator[Hearing]:
        """Be subscribed to resources within."""
        for uri in uris:
            await subscribe(uri)
        yield self
        for uri in uris:
            await unsubscribe(uri)
