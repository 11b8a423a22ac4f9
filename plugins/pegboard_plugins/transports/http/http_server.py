"""aiohttp's low-level server with `HttpConnection` as its protocol."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from aiohttp import web

from pegboard_plugins.transports.http.access_log import access_logger
from pegboard_plugins.transports.http.aiohttp_access_log import AccessLogger
from pegboard_plugins.transports.http.aiohttp_internals import has_internals
from pegboard_plugins.transports.http.http_connection import (
    MAX_HEADER_FIELDS,
    ConnectionSettings,
    HttpConnection,
    IsOperator,
)
from pegboard_plugins.transports.http.staged_close import LINGER_SECONDS

if TYPE_CHECKING:
    from pegboard_plugins.transports.http.handler import Handler
    from pegboard_plugins.transports.http.settings import HttpConfig

logger = logging.getLogger("pegboard.plugins.http")

END_SECONDS = 0.5
"""How long clients may take to close their connections when the server ends, and to send first requests."""


class HttpServer(web.Server):
    """aiohttp's low-level server with `HttpConnection` as its protocol.

    Args:
        handler: answers the requests.
        config: the settings.
        proves: the check that a peer is the operator.
    """

    def __init__(self, handler: Handler, config: HttpConfig, proves: IsOperator) -> None:
        super().__init__(handler.handle, request_factory=handler.request, handler_cancellation=True)
        max_line_bytes = config.max_header_bytes - 1  # differs, so that aiohttp's error tells which limit it is
        settings = ConnectionSettings(
            header_seconds=config.header_seconds,
            max_head_bytes=MAX_HEADER_FIELDS * config.max_header_bytes,
            max_line_bytes=max_line_bytes,
            proves=proves,
            handler=handler,
            knows_internals=has_internals(),
        )
        self._make_connection = partial(
            HttpConnection,
            self,
            loop=asyncio.get_running_loop(),
            settings=settings,
            keepalive_timeout=config.idle_seconds,
            lingering_time=LINGER_SECONDS,
            max_field_size=config.max_header_bytes,
            max_line_size=max_line_bytes,
            auto_decompress=False,
            access_log=access_logger,
            access_log_class=AccessLogger,
        )
        self._count = 0
        self._ended: asyncio.Event | None = None

    def __call__(self) -> HttpConnection:
        return self._make_connection()

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        self._count += 1

    def connection_lost(self, handler: Any, exc: BaseException | None = None) -> None:
        """Tell `end` when no connection is left."""
        super().connection_lost(handler, exc)
        self._count -= 1
        if not self._count and self._ended is not None:
            self._ended.set()

    async def end(self, until: float = 0.0) -> None:
        """Close all connections in stages, those with unanswered requests after their responses.

        Clients may send first requests and close their connections for `END_SECONDS`.

        Args:
            until: the time on the event loop's clock until which requests may take, and clients may read responses.
        """
        self._ended = asyncio.Event()
        for connection in self._http_connections():
            connection.end()
        await self._wait_ended(END_SECONDS)
        for connection in self._http_connections():
            connection.end_idle()
        rest = until - asyncio.get_running_loop().time()
        if rest > 0 and (busy := [connection for connection in self._http_connections() if connection.is_busy]):
            if any(connection.is_sending for connection in busy):
                logger.info("waiting up to %d seconds until clients have read their responses", ceil(rest))
            await self._wait_ended(rest)

    def _http_connections(self) -> list[HttpConnection]:
        return [connection for connection in self.connections if isinstance(connection, HttpConnection)]

    async def _wait_ended(self, seconds: float) -> None:
        # The task is cancelled. In such a task, `asyncio.timeout` raises no TimeoutError before Python 3.11.3.
        assert self._ended is not None
        if self._count:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), seconds)
