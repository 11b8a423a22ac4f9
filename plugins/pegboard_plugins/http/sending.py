"""Writes to peers: their time limit, and comments on silent event streams."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aiohttp import web

from pegboard_plugins.http.sent_events import PING


class SendTimeout:
    """A context that aborts the connection of a peer that reads nothing for between `seconds` and twice `seconds`.

    The abort raises an error or a cancellation in every task that waits for the connection.
    """

    __slots__ = ("_left", "_seconds", "_timer", "_transport")

    def __init__(self, request: web.BaseRequest, seconds: float) -> None:
        self._transport = request.transport
        self._seconds = seconds
        self._left: int | None = None

    def __enter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        if self._transport is None:
            return
        left = self._transport.get_write_buffer_size()
        if self._left is not None and left >= self._left:
            self._transport.abort()
            return
        self._left = left
        self.__enter__()


class Pings:
    """Writes a comment after each interval in which no event is written on a stream.

    Args:
        request: the request.
        response: the stream.
        interval: the interval in seconds.
        send_seconds: the time limit for sending a comment.
    """

    __slots__ = ("_due", "_interval", "_loop", "_request", "_response", "_send_seconds", "_task", "_timer")

    def __init__(
        self, request: web.BaseRequest, response: web.StreamResponse, interval: float, send_seconds: float
    ) -> None:
        self._request = request
        self._response = response
        self._interval = interval
        self._send_seconds = send_seconds
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self.restart()
        self._wait()

    def restart(self) -> None:
        """Begin a new interval."""
        self._due = self._loop.time() + self._interval

    def close(self) -> None:
        """Write no more comments."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _wait(self) -> None:
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        if self._loop.time() >= self._due:
            if self._task is None or self._task.done():
                self._task = self._loop.create_task(self._ping())
            self.restart()
        self._wait()

    async def _ping(self) -> None:
        with suppress(ConnectionError), SendTimeout(self._request, self._send_seconds):
            await self._response.write(PING)
