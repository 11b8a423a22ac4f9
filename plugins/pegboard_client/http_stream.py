"""The messages on the event stream of one HTTP response, and its position for a resumption."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from pegboard_client.client_errors import ConnectionLostError
from pegboard_client.http_exchange import HttpReply
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.incoming import Incoming, Respond
from pegboard_client.json_reading import read_json

_MAX_TAIL_SECONDS = 0.05
"""How long to wait for the end of a stream after the response, so that its connection can be reused."""


class StreamReading:
    """A stream of events that may continue in another response.

    Args:
        incoming: handles the messages of the server.
        most_bytes: the limit of one event.
        respond: sends the responses to the server's requests.

    Attributes:
        events: the number of received events.
        last_id: the id of the last event; "" without one.
        retry_ms: the delay before a reconnect that the server requested; None if it requested none.
    """

    def __init__(self, incoming: Incoming, most_bytes: int, respond: Respond) -> None:
        self.events = 0
        self.last_id = ""
        self.retry_ms: int | None = None
        self._incoming = incoming
        self._most_bytes = most_bytes
        self._respond = respond

    async def response_in(self, reply: HttpReply, flight: InFlight | None) -> Message | None:
        """Pass on the messages of a stream until the response to a request. Return None at its end.

        Raises:
            ConnectionLostError: the stream broke off, or has an invalid event.
        """
        parser = EventParser(self._most_bytes)
        async for chunk in reply.chunks:
            for event in parser.feed(chunk):
                self.events += 1
                self.last_id = event.id or self.last_id
                if event.retry_ms is not None:
                    self.retry_ms = event.retry_ms
                if not event.data:
                    continue
                response = None
                for message in _messages_in(event.data):
                    if flight is not None and message.get("id") == flight.id and "method" not in message:
                        response = message
                    else:
                        self._incoming.take(message, self._respond, flight)
                if response is not None:
                    await _finish(reply)
                    return response
        return None


def _messages_in(data: bytes) -> list[Message]:
    """Return the messages of an event: one, or a batch (2025-03-26)."""
    try:
        decoded: Any = read_json(data)
    except ValueError:
        raise ConnectionLostError("the server sent an event that is not JSON") from None
    messages: list[Message] = decoded if isinstance(decoded, list) else [decoded]
    if not all(isinstance(message, dict) for message in messages):
        raise ConnectionLostError("the server sent an event that is not a JSON-RPC message")
    return messages


async def _finish(reply: HttpReply) -> None:
    """Read the end of a stream."""
    with suppress(TimeoutError, ConnectionLostError):
        async with asyncio.timeout(_MAX_TAIL_SECONDS):
            async for _ in reply.chunks:
                pass


# --- Server-sent events (HTML standard, section 9.2), with limited memory.

MIN_RETRY_MS = 100
"""The shortest delay before a reconnect, whatever a server requests."""
MAX_RETRY_MS = 60_000
"""The limit of the delay that a server may request before a reconnect."""


class ServerEvent(NamedTuple):
    """One event.

    Attributes:
        data: its data.
        id: the latest id on the stream; "" if no event had an id.
        retry_ms: the delay before a reconnect that the server requests with this event; None if it requests none.
    """

    data: bytes
    id: str
    retry_ms: int | None


class EventParser:
    """A parser of one stream.

    Args:
        most_bytes: the limit of one event.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._id = ""
        self._retry_ms: int | None = None
        self._ended_with_return = False
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yield the events that a part of the stream completes.

        Raises:
            ConnectionLostError: an event is too large.
        """
        followed, self._ended_with_return = self._ended_with_return, chunk.endswith(b"\r")
        if followed:
            chunk = chunk.removeprefix(b"\n")
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._line += chunk
            self._check(len(self._line))
            return
        *lines, rest = (bytes(self._line) + chunk).split(b"\n")
        self._line = bytearray(rest)
        for line in lines:
            if line:
                self._take(line)
            elif self._data or self._retry_ms is not None:
                yield self._dispatched()
        self._check(len(self._line))

    def _take(self, line: bytes) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + 1  # empty lines take memory too
            self._check(0)
            self._data.append(value)
        elif name == b"id" and b"\0" not in value and len(value) <= 1024:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self._retry_ms = max(MIN_RETRY_MS, min(int(value), MAX_RETRY_MS))

    def _dispatched(self) -> ServerEvent:
        event = ServerEvent(b"\n".join(self._data), self._id, self._retry_ms)
        self._data = []
        self._size = 0
        self._retry_ms = None
        return event

    def _check(self, more: int) -> None:
        if self._size + more > self._most_bytes:
            raise ConnectionLostError(f"the server sent an event of more than {self._most_bytes} bytes")
