"""Writes to peers: their time limit, and comments on silent event streams."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import takewhile
from math import inf

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.base_protocol import BaseProtocol

from pegboard_plugins.transports.http.sent_events import PING

_PART_BYTES = 64 * 1024
"""The size of the parts of large data over TLS."""


async def write_all(request: web.BaseRequest, data: bytes) -> None:
    """Write data. Wait while the peer does not read.

    A transport with TLS encrypts data of any size at once, and lets the writer wait only before the next write.
    """
    if len(data) <= _PART_BYTES or request.protocol.ssl_context is None:
        await request.writer.write(data)
        return
    parts = memoryview(data)
    for start in range(0, len(data), _PART_BYTES):
        await request.writer.write(parts[start : start + _PART_BYTES])


def unsent_bytes(transport: asyncio.WriteTransport) -> int:
    """Return the number of bytes that were written and not sent. Return 0 if the transport has forgotten them."""
    try:
        return transport.get_write_buffer_size()
    except AttributeError:  # asyncio's transport with TLS, after it was closed twice
        return 0


class SendLimit:
    """Aborts the connection of a peer that reads nothing for between `seconds` and twice `seconds`.

    The abort raises an error or a cancellation in every task that waits for the connection. One timer serves all
    connections.

    Args:
        seconds: the time limit.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._unsent: dict[asyncio.WriteTransport, float] = {}  # the number of bytes at the last check
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.WriteTransport) -> None:
        """Begin the time limit of a connection with unsent bytes."""
        self._unsent.setdefault(transport, inf)
        if self._timer is None:
            self._start()

    def end(self, transport: asyncio.WriteTransport) -> None:
        """End the time limit of a connection whose bytes are sent."""
        self._unsent.pop(transport, None)

    def _start(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def _look(self) -> None:
        for transport, before in tuple(self._unsent.items()):
            left = self._unsent[transport] = unsent_bytes(transport)
            if not left or left >= before:
                self.end(transport)
            if left >= before:
                transport.abort()
        self._timer = None
        if self._unsent:
            self._start()


class Pings:
    """Writes a comment on each open stream after each interval in which nothing is written on it.

    One timer serves all streams.

    Args:
        interval: the interval in seconds.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._loop = asyncio.get_running_loop()
        # the earliest first, because all have the same interval
        self._streams: dict[BaseProtocol, tuple[float, AbstractStreamWriter]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def restart(self, request: web.BaseRequest) -> None:
        """Begin a new interval of a stream."""
        self._restart(request.protocol, request.writer)

    def _restart(self, connection: BaseProtocol, writer: AbstractStreamWriter) -> None:
        self._streams.pop(connection, None)
        self._streams[connection] = self._loop.time() + self._interval, writer
        if self._timer is None:
            self._timer = self._loop.call_later(self._interval, self._look)

    def end(self, request: web.BaseRequest) -> None:
        """Write no more comments on a stream."""
        self._streams.pop(request.protocol, None)

    def _look(self) -> None:
        now = self._loop.time()
        for connection, (_, writer) in tuple(takewhile(lambda stream: stream[1][0] <= now, self._streams.items())):
            task = self._loop.create_task(self._ping(connection, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            self._restart(connection, writer)
        first = next(iter(self._streams.values()), None)
        self._timer = None if first is None else self._loop.call_at(first[0], self._look)

    async def _ping(self, connection: BaseProtocol, writer: AbstractStreamWriter) -> None:
        """Write a comment, unless the stream has ended or its peer does not read what was written before."""
        if connection in self._streams and not connection.writing_paused:
            with suppress(ConnectionError):
                await writer.write(PING)
