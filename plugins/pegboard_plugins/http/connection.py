"""aiohttp's connection, with a limit on how long a client may take to send a request's headers.

aiohttp limits only how long a connection may be silent between requests.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler


class Connection(RequestHandler):
    """Closed when a request's headers are begun and do not come to an end in time."""

    __slots__ = ("_header_seconds", "_header_timer")

    def __init__(self, *arguments: Any, header_seconds: float, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._header_seconds = header_seconds
        self._header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A connection on which nothing is asked at all is no better than one that is slow."""
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a request is whole, and start it when another begins."""
        before = self._request_count
        super().data_received(data)
        if self._request_count != before:
            self._stop_clock()
        elif self._header_timer is None and not self._request_in_progress and self._waiter is not None:
            self._expect_headers()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Nothing is awaited any more."""
        self._stop_clock()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        self._header_timer = self._loop.call_later(self._header_seconds, self._too_slow)

    def _stop_clock(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _too_slow(self) -> None:
        self._header_timer = None
        if self.transport is not None and not self._request_in_progress:
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        self.force_close()


class Server(web.Server):
    """aiohttp's low-level server, making connections of the kind above."""

    def __init__(self, *arguments: Any, header_seconds: float, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._header_seconds = header_seconds

    def __call__(self) -> Connection:
        """A connection that has just been accepted."""
        return Connection(self, loop=self._loop, header_seconds=self._header_seconds, **self._kwargs)
