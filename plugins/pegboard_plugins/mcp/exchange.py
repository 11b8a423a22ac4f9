"""One request over HTTP: answered with JSON, or with an event stream if the call says something before it ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from pegboard import EventStream, Response

MOST_MESSAGES = 1000
MOST_BYTES = 1024 * 1024
"""What waits for a peer that reads slowly; beyond it the oldest messages are dropped, as progress may be."""

ACCEPTED = Response(202)

_STREAM_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


class Exchange:
    """A call that runs, and its messages on their way to the peer.

    Attributes:
        status: the status that its response goes out with, while there is still one to choose.
    """

    __slots__ = ("_bytes", "_cancelled", "_loop", "_news", "_queued", "_task", "status")

    _task: asyncio.Task[bytes]

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queued: deque[tuple[bytes, bool]] = deque()
        self._bytes = 0
        self._news = asyncio.Event()
        self._cancelled = False
        self.status = 200

    def start(self, answer: Coroutine[Any, Any, bytes], ended: Callable[[], None]) -> None:
        """Run the call, which ends with its encoded response, in a task of its own; `ended` is told of its end."""
        self._task = asyncio.create_task(answer)
        self._task.add_done_callback(lambda _: self._end(ended))

    def _end(self, ended: Callable[[], None]) -> None:
        self._news.set()
        ended()

    @property
    def open(self) -> bool:
        """Whether the call is neither answered nor cancelled."""
        return not (self._cancelled or self._task.done())

    def send(self, message: bytes, *, keep: bool = False) -> None:
        """Queue a message, from any thread; one that is to be kept is never dropped."""
        try:
            inside = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            inside = False
        if inside:
            self._add(message, keep)
        else:
            self._loop.call_soon_threadsafe(self._add, message, keep)

    def _add(self, message: bytes, keep: bool) -> None:
        if self._cancelled:
            return
        self._queued.append((message, keep))
        self._bytes += len(message)
        while len(self._queued) > MOST_MESSAGES or (self._bytes > MOST_BYTES and len(self._queued) > 1):
            if not self._drop_one():
                break
        self._news.set()

    def _drop_one(self) -> bool:
        """Drop the oldest message that may be; whether there was one."""
        for place, (message, keep) in enumerate(self._queued):
            if not keep:
                del self._queued[place]
                self._bytes -= len(message)
                return True
        return False

    def cancel(self, farewell: Callable[[], None] | None = None) -> None:
        """Cancel the call for its client, to whom nothing is sent any more, whatever the call still does.

        Args:
            farewell: sends the last that the client must hear.
        """
        self._queued.clear()
        self._bytes = 0
        if farewell is not None:
            farewell()
        self._cancelled = True
        self._task.cancel()
        self._news.set()

    async def response(self) -> bytes | None:
        """The response alone; None when the call was cancelled. What it says on its way is not sent."""
        while not (self._cancelled or self._task.done()):
            self._news.clear()
            await self._news.wait()
        return None if self._cancelled or self._task.cancelled() else self._task.result()

    async def respond(self, *, cancel_with_peer: bool, streamed: bool = False) -> Response | EventStream:
        """What goes back to the peer.

        Args:
            cancel_with_peer: the end of the peer is the end of the call (2026-07-28); in sessions it is not.
            streamed: the peer takes nothing but an event stream.
        """
        if not streamed:
            try:
                await self._news.wait()
            except asyncio.CancelledError:
                if cancel_with_peer:
                    self._task.cancel()
                raise
            if not self._queued:
                cancelled = self._cancelled or self._task.cancelled()
                return ACCEPTED if cancelled else Response(self.status, self._task.result())
        messages = self._messages(cancel_with_peer=cancel_with_peer)
        await anext(messages)  # one that was never begun would not notice its end
        return EventStream(messages, _STREAM_HEADERS)

    async def _messages(self, *, cancel_with_peer: bool) -> AsyncIterator[bytes]:
        """An empty first one, then every message, then the response."""
        try:
            yield b""
            while True:
                self._news.clear()
                while self._queued:
                    message, _ = self._queued.popleft()
                    self._bytes -= len(message)
                    yield message
                if not self.open:
                    break
                await self._news.wait()
            if not (self._cancelled or self._task.cancelled()):
                yield self._task.result()
        finally:
            if cancel_with_peer:
                self._task.cancel()
