"""A queue of messages to one peer, of limited size."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import NamedTuple

MAX_QUEUED_MESSAGES = 1000
MAX_QUEUED_BYTES = 1024 * 1024
"""Beyond these limits the queue drops its oldest droppable messages."""


class _Queued(NamedTuple):
    message: bytes
    keep: bool
    key: Hashable | None


class MessageQueue:
    """A queue with one reader.

    Attributes:
        closed: True if the queue accepts no more messages.
        kept: the number of waiting messages that are never dropped, without messages that have a key.
        on_message: called on the event loop for each queued message.
    """

    __slots__ = ("_bytes", "_keys", "_loop", "_news", "_queued", "closed", "kept", "on_message")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queued: list[_Queued] = []  # smaller than a deque, and never long
        self._keys: dict[Hashable, None] = {}  # smaller than a set
        self._bytes = 0
        self.kept = 0
        self._news: asyncio.Future[None] | None = None  # smaller than an Event
        self.closed = False
        self.on_message: Callable[[], None] | None = None

    @property
    def waiting(self) -> int:
        return len(self._queued)

    @property
    def empty(self) -> bool:
        return not self._queued

    @property
    def full(self) -> bool:
        """True if queueing another message would drop a waiting message."""
        return len(self._queued) >= MAX_QUEUED_MESSAGES or self._bytes >= MAX_QUEUED_BYTES

    def send(self, message: bytes, *, keep: bool = False, key: Hashable | None = None) -> None:
        """Queue a message, from any thread.

        Args:
            message: the message.
            keep: never drop the message.
            key: identifies equal messages. While a message with the same key waits, the new message is not queued.
        """
        try:
            inside = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            inside = False
        queued = _Queued(message, keep, key)
        if inside:
            self._add(queued)
        else:
            self._loop.call_soon_threadsafe(self._add, queued)

    def _add(self, queued: _Queued) -> None:
        if self.closed or queued.key in self._keys:
            return
        if queued.key is not None:
            self._keys[queued.key] = None
        self._queued.append(queued)
        self._bytes += len(queued.message)
        self.kept += queued.keep
        while len(self._queued) > MAX_QUEUED_MESSAGES or (self._bytes > MAX_QUEUED_BYTES and len(self._queued) > 1):
            if not self._drop_one():
                break
        self.wake()
        if self.on_message is not None:
            self.on_message()

    def _drop_one(self) -> bool:
        """Drop the oldest droppable message. Return False if no message may be dropped."""
        for place, queued in enumerate(self._queued):
            if not (queued.keep or queued.key is not None):
                del self._queued[place]
                self._bytes -= len(queued.message)
                return True
        return False

    def pop(self) -> bytes | None:
        """Return the next message, or None if no message waits."""
        if not self._queued:
            return None
        queued = self._queued.pop(0)
        self._bytes -= len(queued.message)
        self.kept -= queued.keep
        self._keys.pop(queued.key, None)
        return queued.message

    async def wait(self) -> None:
        """Wait until a message is queued, the queue is closed, or `wake` is called."""
        if self.empty and not self.closed:
            self._news = self._loop.create_future()
            await self._news

    def wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def close(self, *, drop: bool = False) -> None:
        """Accept no more messages. Waiting messages may still be read, unless `drop` is set."""
        self.closed = True
        if drop:
            self.clear()
        self.wake()

    def move_to(self, other: MessageQueue) -> None:
        """Move all waiting messages to another queue."""
        for queued in self._queued:
            other._add(queued)
        self.clear()

    def clear(self) -> None:
        self._queued.clear()
        self._keys.clear()
        self._bytes = self.kept = 0
