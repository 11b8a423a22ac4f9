"""aiohttp's connection, with a limit on the time that a client may take to send a request's headers.

aiohttp limits only the idle time between requests. It also sends its parser's errors to clients. This connection logs
them instead.
"""

from __future__ import annotations

import asyncio
import logging
import re
import select
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod, LineTooLong

from pegboard_plugins.transports.http.aiohttp_internals import (
    is_idle,
    is_reading_paused,
    is_upgrading,
    put_waiter,
    remove_request,
    take_waiter,
    waiting_requests,
)
from pegboard_plugins.transports.http.sending import unsent_bytes
from pegboard_plugins.transports.http.staged_close import StagedConnection

if TYPE_CHECKING:
    from pegboard_plugins.transports.http.handler import Handler

logger = logging.getLogger("pegboard.plugins.http")

IsOperator = Callable[[asyncio.BaseTransport], bool]
"""A check that returns True if a transport proves that its peer is the operator."""

_LAST = b"HTTP/1.1 %b\r\nServer: pegboard\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TOO_SLOW = _LAST % b"408 Request Timeout"
_TOO_LARGE = _LAST % b"431 Request Header Fields Too Large"

_TEXTS = {
    400: "The request is not valid HTTP.\n",
    414: "The URL is too long.\n",
    431: "A header field is too large.\n",
    501: "The server does not know this method.\n",
}
_UNKNOWN_METHOD = re.compile(r"b'[!#$%&*+.^_`|~0-9A-Za-z-]+ \S+ HTTP/1\.[01]'")
"""A valid request line in aiohttp's error message for an unknown method."""

MAX_HEADER_FIELDS = 4
"""The limit for all header fields of a request, as a multiple of the limit for one field."""


class ConnectionSettings(NamedTuple):
    """The settings that all connections of a server share.

    Attributes:
        header_seconds: the time limit for the headers of a request.
        max_head_bytes: the limit for the size of all header fields of a request.
        max_line_bytes: the limit for the size of the URL of a request. It differs from the limit for one header field.
        proves: the check that a peer is the operator.
        handler: answers requests, before aiohttp handles them if the server knows its attributes.
        knows_internals: True if aiohttp has the private attributes that the server uses.
    """

    header_seconds: float
    max_head_bytes: int
    max_line_bytes: int
    proves: IsOperator
    handler: Handler
    knows_internals: bool


class HttpConnection(StagedConnection):
    """A connection that closes if the headers of a request take too long or too many bytes.

    Without the private attributes of aiohttp it learns of a request when aiohttp begins to handle it.

    Attributes:
        is_operator: True if the transport proves that the peer is the operator.
        remote: the address of the peer; None if unknown.
        pending: the answer to the first request that aiohttp must write; None for none.
    """

    __slots__ = (
        "_begun",
        "_head_bytes",
        "_header_timer",
        "_in_head",
        "_is_served",
        "_is_watched",
        "_last_body",
        "_requests",
        "_running",
        "_settings",
        "is_operator",
        "pending",
        "remote",
    )

    def __init__(self, *arguments: Any, settings: ConnectionSettings, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._settings = settings
        self._requests = waiting_requests(self) if settings.knows_internals else None
        self._begun = 0  # the requests that aiohttp has begun to handle
        self._is_served = False  # aiohttp handles a request
        self.pending: Any = None
        self._running: asyncio.Task[None] | None = None
        self.is_operator = False
        self.remote: str | None = None
        self._header_timer: asyncio.TimerHandle | None = None
        self._in_head = False
        self._head_bytes = 0
        self._last_body: Any = None
        self._is_watched = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer for headers. A connection without any request is closed like a slow request."""
        super().connection_made(transport)
        self.is_operator = self._settings.proves(transport)
        address = self.peername  # aiohttp keeps it, and uvloop makes a new address for each question
        self.remote = str(address[0]) if isinstance(address, tuple) else address
        self._start_clock()

    async def start(self) -> None:
        """Handle the requests. Limit the time in which the peer reads the last response."""
        try:
            await super().start()
        finally:
            self._limit_sending()
            self.transport = None  # aiohttp keeps the transport of a connection with TLS, which closes in stages

    def pause_writing(self) -> None:
        """Limit the time in which the peer reads nothing."""
        super().pause_writing()
        self._limit_sending()

    def resume_writing(self) -> None:
        """End the limit."""
        super().resume_writing()
        if self._open is not None:
            self._settings.handler.send_limit.end(self._open)

    def eof_received(self) -> None:
        """Limit the time for the last response: the event loop closes the connection when the peer has read it."""
        self._limit_sending()

    def _limit_sending(self) -> None:
        if self._open is not None and unsent_bytes(self._open):
            self._settings.handler.send_limit.begin(self._open)

    def data_received(self, data: bytes) -> None:
        """Parse requests. Answer them after the event loop has read the other connections.

        Parsing all requests before answering them takes less CPU time, because each step finds its code in the caches
        of the processor. Stop the timer when a request's headers are complete. Start it when the next request begins.
        """
        requests = self._requests
        last = requests[-1][1] if requests else self._last_body
        between = last is None or last.is_eof()
        if requests is None:
            super().data_received(data)
            if data and between and self.transport is not None:
                self._loop.call_soon(self._count_unless_begun, len(data), self._begun)
            return
        waiting = len(requests)
        waiter = take_waiter(self)
        try:
            super().data_received(data)
        finally:
            if waiter is not None and requests:
                self._running = self._loop.create_task(self._respond(waiter))
            elif waiter is not None:
                put_waiter(self, waiter)
        if arrived := len(requests) - waiting:
            self._stop_clock()
            if between and arrived == 1:
                self._last_body = requests[-1][1]  # the common case
            else:
                self._break_bodies(requests, arrived)
        elif data and between and not is_upgrading(self):
            self._count_head(len(data))

    def _count_head(self, size: int) -> None:
        """Limit the size and the time of headers of which a part has arrived."""
        self._in_head = True
        self._head_bytes += size
        if self._head_bytes > self._settings.max_head_bytes:
            self._close_with(_TOO_LARGE)
        elif self._header_timer is None:
            self._start_clock()

    def _count_unless_begun(self, size: int, begun: int) -> None:
        """Count headers, unless the bytes belong to a request that aiohttp has begun to handle since they arrived."""
        if self.transport is None or begun != self._begun:
            return
        if self._is_served:  # complete requests may be among the bytes
            self._in_head = True
        else:
            self._count_head(size)

    def request_begun(self, body: Any) -> None:
        """Take note of a request that aiohttp begins to handle.

        aiohttp parses the bytes behind a request to change the protocol outside of `data_received`.
        """
        if not self._requests:
            self._last_body = body
        if self._requests is None:
            self._begun += 1
            self._is_served = True
            self._stop_clock()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write a response. When the task of a request ends, aiohttp first begins the next request that has arrived."""
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            if self._requests is None and (task := asyncio.current_task(self._loop)) is not None:
                task.add_done_callback(partial(self._end_unless_begun, self._begun))

    def _end_unless_begun(self, begun: int, task: asyncio.Task[Any]) -> None:
        """Wait for the next request. The time of its headers begins if a part has arrived."""
        if begun == self._begun:
            self._is_served = False
            if self._in_head and self._header_timer is None and self.transport is not None:
                self._start_clock()

    async def _respond(self, waiter: asyncio.Future[None]) -> None:
        """Answer the only request. Until its response is written, further requests wait."""
        requests = self._requests
        is_written = False
        try:
            if requests is not None and self.transport is not None and len(requests) == 1 and not self._is_last:
                is_written = await self._settings.handler.answer(self, *requests[0])
            self._go_on(waiter, is_written=is_written)
        except BaseException:
            put_waiter(self, waiter)
            self.force_close()
            raise
        finally:
            self._running = None

    def _go_on(self, waiter: asyncio.Future[None], *, is_written: bool) -> None:
        """Wait for the next request, or wake the task of the connection for the requests that have arrived."""
        put_waiter(self, waiter)
        if is_written:
            remove_request(self, self._loop)
        if self.transport is None or (is_written and self._is_last):
            self.force_close()
        elif self._requests and not waiter.done():
            waiter.set_result(None)

    def resume_reading(self, *arguments: Any, **keywords: Any) -> None:
        """Resume reading if it is paused.

        aiohttp calls this after every body and would call its parser even if reading was not paused.
        """
        if not self._settings.knows_internals or is_reading_paused(self):
            super().resume_reading(*arguments, **keywords)

    def reading_paused(self) -> None:
        """Check at intervals whether the peer has disconnected, because its call is cancelled then."""
        if not self._is_watched:
            self._is_watched = True
            self._loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._is_watched = False
        transport = self.transport
        if transport is None or transport.is_closing() or transport.is_reading():
            return
        if has_hung_up(transport) and not unsent_bytes(transport):
            transport.abort()
        else:
            self.reading_paused()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Stop the timer for headers, and the running request."""
        self._stop_clock()
        if self._open is not None:
            self._settings.handler.send_limit.end(self._open)
        if self._running is not None:
            self._loop.call_soon(self._running.cancel)  # when it has started, because it discards its answer
        elif self.pending is not None:
            self._settings.handler.drop(self)
        super().connection_lost(exc)

    def force_close(self) -> None:
        """Close the connection in stages. Ignore everything that still arrives."""
        self._stop_clock()
        self._requests = None
        super().force_close()

    @property
    def is_idle(self) -> bool:
        """True if the connection waits for a request."""
        return is_idle(self) if self._settings.knows_internals else not self._is_served

    @property
    def is_sending(self) -> bool:
        """True if the client has not read everything that was written for it."""
        return self._open is not None and unsent_bytes(self._open) > 0

    @property
    def is_busy(self) -> bool:
        """True if a request is not answered, or its response is not read."""
        return self.is_sending or (self.transport is not None and not self.is_idle)

    def end(self) -> None:
        """Close the connection after the response to the request in progress. A first request may still arrive."""
        body = self._last_body
        if body is None or not body.is_eof() or self._in_head:
            return
        if self.is_idle:
            self.force_close()
        else:
            self.close()

    def end_idle(self) -> None:
        """Close the connection if it waits for a request."""
        if self.is_idle:
            self.force_close()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answer invalid HTTP and unexpected errors. Raise the error if the peer is gone."""
        if isinstance(exc, ConnectionError):
            raise exc
        if isinstance(exc, LineTooLong):
            status = 414 if exc.args[1] == self._settings.max_line_bytes else 431  # RFC 9112 section 3
        elif isinstance(exc, BadHttpMethod) and _UNKNOWN_METHOD.search(exc.message):
            status = 501
        if status < 500 or status == 501:
            reason = type(exc).__name__ if exc else message
            about = {"peer": request.remote, "data": {"status": status, "reason": reason}}
            logger.info("refused a request that is not valid HTTP: %d %s", status, reason, extra=about)
        else:
            logger.error("a request failed", exc_info=exc, extra={"peer": request.remote})
        if request.writer.output_size > 0:
            raise ConnectionError("the response has begun and cannot be replaced")
        text = _TEXTS.get(status, "It failed.\n")
        response = web.Response(status=status, text=text, headers={"Server": "pegboard"})
        response.force_close()
        return response

    def _break_bodies(self, requests: Sequence[tuple[Any, Any]], arrived: int) -> None:
        """End an incomplete body whose chunked encoding is invalid, if another request follows.

        aiohttp keeps the error for the next request, and the reader of this body would wait forever.
        """
        last = self._last_body
        for _, body in islice(requests, len(requests) - arrived, None):
            if last is not None and not last.is_eof():
                last.set_exception(web.RequestPayloadError("the framing of the body is not valid HTTP"))
                last.feed_eof()
            last = body
        self._last_body = last

    def _start_clock(self) -> None:
        self._header_timer = asyncio.get_running_loop().call_later(self._settings.header_seconds, self._too_slow)

    def _stop_clock(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _too_slow(self) -> None:
        self._header_timer = None
        if not self.is_idle:
            if self._in_head:
                self._start_clock()  # no limit while an earlier response is due
            return
        self._close_with(_TOO_SLOW if self._in_head else b"")

    def _close_with(self, answer: bytes) -> None:
        """Close the connection, with a response if no other response is due before it."""
        if answer and self.transport is not None and self.is_idle:
            self.transport.write(answer)
        self.force_close()


# --- Peers that hang up while the server does not read from them. Event loops do not notice them.

LOOK_SECONDS = 1.0
"""The interval of looks at a connection from which the server does not read."""


def has_hung_up(transport: asyncio.BaseTransport) -> bool:
    """Return True if the peer has closed its connection or its sending side, even if unread bytes precede the end.

    Return False where the system cannot tell.
    """
    socket = transport.get_extra_info("socket")
    if socket is None or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(socket, getattr(select, "POLLRDHUP", 0))  # the system adds POLLHUP and POLLERR
    return bool(poll.poll(0))
