"""Connections that close in stages (RFC 9112, section 9.6).

If a server closes a socket while bytes of the client are unread or on their way, the system resets the connection. The
client may then lose the last response. Therefore the server sends its end first, and reads on for a short time.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from pegboard_plugins.transports.http.aiohttp_internals import PausingConnection
from pegboard_plugins.transports.http.sending import unsent_bytes

LINGER_SECONDS = 2.0
"""How long bytes of a client are read and discarded after the last response, so that the client can read it."""


class StagedConnection(PausingConnection):
    """A connection that sends its end, discards what arrives, and closes after the peer or after `LINGER_SECONDS`.

    A connection with TLS cannot send its end alone. asyncio and uvloop close it in stages of their own.
    """

    __slots__ = ("_is_last", "_lingering", "_open")

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._open: asyncio.Transport | None = None  # until the connection is lost, unlike `transport`
        self._lingering: asyncio.TimerHandle | None = None
        self._is_last = False  # the connection closes after the requests that were read

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with an open connection."""
        super().connection_made(transport)
        self._open = self.transport

    def close(self) -> None:
        """Close after the requests that were read."""
        self._is_last = True
        super().close()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write a response. Close in stages after the last response."""
        written, is_lost = await super().finish_response(request, resp, start_time)
        is_last = not written.keep_alive or self._is_last
        if is_last and not is_lost and self.ssl_context is None:
            self.force_close()
        return written, is_lost

    def force_close(self) -> None:
        """Close in stages. Handle no further request."""
        transport = self.transport
        if transport is None or self._open is None or transport.is_closing() or not transport.can_write_eof():
            super().force_close()
            return
        self.transport = None
        super().force_close()
        try:
            transport.write_eof()  # after all bytes that were written
        except (OSError, RuntimeError):  # the peer is gone
            transport.abort()
            return
        if not transport.is_reading():
            transport.resume_reading()
        self._linger(transport)

    def _linger(self, transport: asyncio.Transport) -> None:
        self._lingering = self._loop.call_later(LINGER_SECONDS, self._end_lingering, transport)

    def _end_lingering(self, transport: asyncio.Transport) -> None:
        if unsent_bytes(transport):
            self._linger(transport)  # the limit on sending applies
        else:
            transport.close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Stop waiting for the end of the peer."""
        self._open = None
        if self._lingering is not None:
            self._lingering.cancel()
        super().connection_lost(exc)
