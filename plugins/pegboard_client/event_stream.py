"""Server-sent events (HTML standard, section 9.2), with limited memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pegboard_client.client_errors import ConnectionLostError

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
        if self._ended_with_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if b"\r" in chunk:
            self._ended_with_return = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        elif chunk:
            self._ended_with_return = False
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
