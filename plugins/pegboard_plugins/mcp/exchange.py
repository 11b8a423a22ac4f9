"""One request over HTTP: answered with JSON, unless the call says something before it ends; then with an event stream."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from pegboard import EventStream, Response

MOST_QUEUED = 1000
"""How many messages wait for a peer that reads slowly; the oldest are dropped, as progress may be."""

_STREAM_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


class Exchange:
    """The messages of one call, on their way to the peer."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queued: deque[bytes] = deque(maxlen=MOST_QUEUED)
        self._news = asyncio.Event()

    def send(self, message: bytes) -> None:
        """Queue a message; from any thread."""
        try:
            inside = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            inside = False
        if inside:
            self._add(message)
        else:
            self._loop.call_soon_threadsafe(self._add, message)

    def _add(self, message: bytes) -> None:
        self._queued.append(message)
        self._news.set()

    async def respond(self, task: asyncio.Task[bytes], *, cancel_with_peer: bool) -> Response | EventStream:
        """The response to the request that `task` answers.

        Args:
            task: runs the call and encodes its response.
            cancel_with_peer: the end of the peer is the end of the call (2026-07-28); in sessions it is not.
        """
        task.add_done_callback(lambda _: self._news.set())
        try:
            await self._news.wait()
        except asyncio.CancelledError:
            if cancel_with_peer:
                task.cancel()
            raise
        if not self._queued:
            return Response(body=task.result())
        return EventStream(self._messages(task, cancel_with_peer=cancel_with_peer), _STREAM_HEADERS)

    async def _messages(self, task: asyncio.Task[bytes], *, cancel_with_peer: bool) -> AsyncIterator[bytes]:
        try:
            while True:
                self._news.clear()
                while self._queued:
                    yield self._queued.popleft()
                if task.done():
                    break
                await self._news.wait()
            if not task.cancelled():
                yield task.result()
        finally:
            if cancel_with_peer:
                task.cancel()
