"""One stream of a session. Messages are numbered and stored, so that a client can resume the stream.

A client may lose a stream and resume it at any time. Only the latest connection reads it.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import secrets
from collections.abc import Callable, Sequence
from itertools import count
from math import inf
from typing import NamedTuple, Self

from pegboard.plugin import EventStore, decode, encode
from pegboard.types import ServerSentEvent
from pegboard_plugins.protocols.mcp.http.error_responses import REACHING
from pegboard_plugins.protocols.mcp.jsonrpc_messages import is_request_id
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue
from pegboard_plugins.support.jsonrpc import RequestId

logger = logging.getLogger("pegboard.mcp")

_count = count()
_PROCESS = f"{secrets.token_urlsafe(6)}_"
"""The end of the ids of streams, if this process has no number. No other process generates the same ids."""


Missed = Sequence[tuple[int, bytes]]
"""Earlier messages with their numbers."""

CALL_STREAM_PREFIX = "c"
"""The first letter of the ids of calls' streams."""
REPEATABLE_STREAM_PREFIX = "r"
"""The first letter of the ids of streams of calls whose repetition has no further effect."""
MAX_LEFT_BYTES = 64 * 1024
"""The largest end of a stream that is left to other processes, whose store has no other limit of its size."""
MAX_EVENT_ID_CHARACTERS = 500
"""The longest id of an event."""
MAX_REQUEST_ID_BYTES = 300
"""The longest request id, as JSON, that the id of a stream contains."""


def call_stream_prefix(request_id: RequestId, *, repeatable: bool) -> str | None:
    """Return the start of a call's stream id, which contains the request id. Return None if this id is too long."""
    text = encode(request_id)
    if len(text) > MAX_REQUEST_ID_BYTES:
        return None
    first = REPEATABLE_STREAM_PREFIX if repeatable else CALL_STREAM_PREFIX
    return f"{first}{base64.urlsafe_b64encode(text).rstrip(b'=').decode()}~"


def request_id_of(stream_id: str) -> RequestId | None:
    """Return the request id in a stream id, or None for other stream ids."""
    carried, tilde, _ = stream_id[1:].rpartition("~")
    if not (tilde and carried and stream_id.startswith((CALL_STREAM_PREFIX, REPEATABLE_STREAM_PREFIX))):
        return None
    try:
        request_id = decode(base64.urlsafe_b64decode(carried + "=" * (-len(carried) % 4)))
    except ValueError:
        return None
    return request_id if is_request_id(request_id) else None


def process_of(stream_id: str) -> int:
    """Return the number of the process that generated a stream id; 0 if it had none."""
    number = stream_id.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


class EventId(NamedTuple):
    """The id of an event as clients return it: the stream, and the number of the message."""

    stream: str
    number: int

    @classmethod
    def parse(cls, text: str) -> EventId | None:
        """Parse an event id. Return None if it is invalid."""
        stream, dot, number = text.rpartition(".")
        if (
            dot
            and stream.isascii()
            and number.isascii()
            and number.isdecimal()
            and len(text) <= MAX_EVENT_ID_CHARACTERS
        ):
            return cls(stream, int(number))
        return None

    def __str__(self) -> str:
        return f"{self.stream}.{self.number}"


class StreamRetention(NamedTuple):
    """The storage of a session's streams.

    Attributes:
        store: the store of the messages. Without a store, events have no ids.
        shared: the store in which other processes find the response of a call, and what no client has read before it;
            None for no other processes.
        retry_ms: how long a client waits before it resumes. None in revisions without this field. Their streams also
            do not begin with an event without data.
        poll_seconds: how long the stream of a call stays open before its client must resume it; None for no limit.
        number: returns the number of this process, which ids of streams contain; 0 if it has none.
    """

    store: EventStore | None
    retry_ms: int | None = None
    poll_seconds: float | None = None
    number: Callable[[], int] = int
    shared: EventStore | None = None


class SessionStream:
    """The messages of one call, or of a session's standalone stream.

    Args:
        session_id: the id of the session.
        retention: how the messages are stored.
        kind: the prefix of the stream id. It distinguishes streams of calls from standalone streams.
        stream_id: the id of an earlier stream to continue.
        number: the number of the next message.
        queue: a queue that may already contain messages of the stream.
        on_left: called when its reader has left; None if nothing more is sent.

    Attributes:
        queue: the messages that wait for a reader. The stream ends when it is closed.
    """

    __slots__ = ("_lock", "_number", "_on_left", "expiry", "id", "queue", "reader", "retention", "session_id")

    def __init__(
        self,
        session_id: str,
        retention: StreamRetention,
        kind: str,
        stream_id: str | None = None,
        number: int = 0,
        queue: MessageQueue | None = None,
        on_left: Callable[[SessionStream], None] | None = None,
    ) -> None:
        self.id = stream_id or f"{kind}{next(_count):x}-{retention.number() or _PROCESS}"
        self.session_id = session_id
        self.retention = retention
        self.reader: SessionStreamReader | None = None
        self._on_left = on_left
        self.expiry: asyncio.TimerHandle | None = None
        self.queue = queue or MessageQueue()
        self._number = number
        self._lock = asyncio.Lock()

    @property
    def is_kept(self) -> bool:
        """True if messages of the stream are sent or wait. A client may also invent a stream id."""
        return self._on_left is not None

    def close(self) -> None:
        """Accept no more messages. Waiting messages can still be read."""
        self.queue.close()
        if self.expiry is not None:
            self.expiry.cancel()

    async def missed(self, number: int) -> Missed | None:
        """Return the sent messages after message `number`, or None if some are not stored."""
        if self.retention.store is None:
            return None
        async with self._lock:
            if number == self._number - 1:
                return ()  # no message was missed
            return await self._stored(number)

    async def _stored(self, number: int) -> Missed | None:
        """Return the stored messages after message `number`; those that another process has stored, if it has ended."""
        store, shared = self.retention.store, self.retention.shared
        messages = None if store is None else await store.after(self.session_id, self.id, number)
        if messages is not None or shared is None:
            return messages
        with REACHING:
            left = await shared.after(self.session_id, self.id, -1)
        return left and [(place, text.encode()) for place, text in decode(left[0][1]) if place > number]

    async def is_answered(self, missed: Missed, number: int) -> bool:
        """Return True if an ended stream contained the response of its call.

        Args:
            missed: the messages of the stream after `number`.
            number: the number of the last message that the client has read.
        """
        if not missed:
            missed = await self._stored(number - 1) or ()
        return bool(missed) and bool(missed[-1][1]) and "method" not in decode(missed[-1][1])

    def end_with(self, message: bytes) -> None:
        """Queue a last message that is not stored."""
        self.retention = self.retention._replace(store=None)
        self.queue.send(message)
        self.close()

    def read(
        self, missed: Missed = (), *, prime: bool = True, polled: bool = False, seconds: float | None = None
    ) -> SessionStreamReader:
        """Return a new reader. The new reader replaces the former reader.

        Args:
            missed: messages to return first.
            prime: begin with an event that has an id but no data, if the revision defines it.
            polled: end the reader after `poll_seconds`, so that the client resumes the stream. It then has no other
                limit.
            seconds: the time after which the reader ends although messages wait; None for no limit.
        """
        is_primed = prime and self.retention.retry_ms is not None
        reader = SessionStreamReader(self, missed, prime=is_primed, polled=polled, seconds=seconds)
        self.reader = reader
        if self.expiry is not None:
            self.expiry.cancel()
        self.queue.wake()
        return reader

    def left(self, reader: SessionStreamReader) -> None:
        """Handle the end of a reader."""
        if self.reader is reader:
            self.reader = None
            if self._on_left is not None:
                self._on_left(self)

    async def take(self, reader: SessionStreamReader) -> ServerSentEvent | None:
        """Return the next event for a reader. Return None if no message waits or another reader replaced it.

        If the connection of the reader ends meanwhile, the event is still stored, for the next reader.
        """
        if self.queue.empty:
            return None
        taken = self._take(reader)
        return await (taken if self.retention.store is None else asyncio.shield(asyncio.ensure_future(taken)))

    async def _take(self, reader: SessionStreamReader) -> ServerSentEvent | None:
        async with self._lock:
            if self.reader is not reader:
                return None
            number, message = self._number, self.queue.pop()
            if message is None:
                return None
            event = await self.event(message)
            await self._leave([(number, message)])
            return event

    async def keep_rest(self) -> None:
        """Store unread messages for a client that resumes the stream."""
        unread = []
        async with self._lock:
            while self.reader is None and (message := self.queue.pop()) is not None:
                unread.append((self._number, message))
                await self.event(message)
            await self._leave(unread, is_read=False)

    async def _leave(self, messages: Missed, *, is_read: bool = True) -> None:
        """Store the end of a call's stream for other processes.

        Args:
            messages: the last messages. Nothing is stored if they do not end with the response.
            is_read: False if nobody reads the stream, so that its client may not have read what was sent.
        """
        store, shared = self.retention.store, self.retention.shared
        if store is None or shared is None or not self.queue.closed or not (messages and self.queue.empty):
            return
        if not is_read:
            messages = await store.after(self.session_id, self.id, -1) or messages
        whole = encode([[number, message.decode()] for number, message in messages])
        if len(whole) > MAX_LEFT_BYTES:
            return
        try:
            await shared.append(self.session_id, self.id, 0, whole)
        except Exception:
            logger.exception("the event store failed: clients get this response from this process only")

    async def event(self, message: bytes) -> ServerSentEvent:
        """Return a message as the next event of the stream. The event has an id only if it could be stored."""
        store = self.retention.store
        if store is None:
            return ServerSentEvent(message)
        number = self._number
        self._number += 1
        try:
            await store.append(self.session_id, self.id, number, message)
        except Exception:
            logger.exception("the event store failed: clients cannot resume after this message")
            return ServerSentEvent(message)
        return ServerSentEvent(message, str(EventId(self.id, number)))


class SessionStreamReader:
    """One connection that reads a stream: its events, in order."""

    __slots__ = ("__weakref__", "_ends", "_loop", "_missed", "_prime", "_stream", "_until")

    def __init__(
        self, stream: SessionStream, missed: Missed, *, prime: bool, polled: bool, seconds: float | None
    ) -> None:
        self._stream = stream
        self._missed = list(reversed(missed))
        self._prime = prime
        limit = stream.retention.poll_seconds if polled else seconds
        self._loop = asyncio.get_running_loop()
        self._until = None if limit is None else self._loop.time() + limit
        self._ends = inf if seconds is None else self._loop.time() + seconds

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ServerSentEvent:
        stream = self._stream
        if self._prime:
            self._prime = False
            event = await stream.event(b"")
            return event._replace(retry_ms=stream.retention.retry_ms)
        while self._missed:
            number, message = self._missed.pop()
            if message:
                return ServerSentEvent(message, str(EventId(stream.id, number)))
        while stream.reader is self and self._loop.time() < self._ends:
            if (following := await stream.take(self)) is not None:
                return following
            if stream.queue.closed:
                break
            if self._until is None:
                await stream.queue.wait()
            elif not await self._news(self._until):
                break
        raise StopAsyncIteration

    async def _news(self, until: float) -> bool:
        """Wait for a message. Return False if the client must resume the stream, at a time of the event loop."""
        try:
            async with asyncio.timeout_at(until):
                await self._stream.queue.wait()
        except TimeoutError:
            return False
        return True

    def stop(self) -> None:
        """End the reader, although its connection could read on. The stream may be resumed."""
        self._ends = self._loop.time()
        self._stream.queue.wake()

    async def aclose(self) -> None:
        """End the reader when its connection ends."""
        self._stream.left(self)
