"""The requests that aiohttp reads, and their responses."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable
from email.utils import formatdate
from functools import lru_cache, partial
from time import time
from typing import Any

from aiohttp import HttpVersion, HttpVersion11, hdrs, web

from pegboard.plugin import TransportContext
from pegboard.types import EventStream, Response
from pegboard_plugins.transports.http.access_log import wants_access_log
from pegboard_plugins.transports.http.aiohttp_access_log import REQUEST_NOTES, notes_of
from pegboard_plugins.transports.http.aiohttp_internals import forget_facts, take_body
from pegboard_plugins.transports.http.exchange import Answer, Arrival, Exchange
from pegboard_plugins.transports.http.http_connection import HttpConnection
from pegboard_plugins.transports.http.refusal_responses import BUSY, STOPPING
from pegboard_plugins.transports.http.request_bodies import arrived_body, read_body
from pegboard_plugins.transports.http.request_guard import RequestGuard
from pegboard_plugins.transports.http.sending import Pings, SendLimit, write_all
from pegboard_plugins.transports.http.sent_events import close_messages, encode_event
from pegboard_plugins.transports.http.settings import HttpConfig

logger = logging.getLogger("pegboard.plugins.http")

_is_plain_path = re.compile(r"/[A-Za-z0-9._~/-]*").fullmatch
"""A path without a query and without characters that must be decoded."""


class Handler:
    """The request handler of one server.

    Args:
        config: the server's settings.
        guard: the checks before any route.
        host: the host that provides the routes.

    Attributes:
        exchange: the requests.
        send_limit: the time limit of peers that read nothing.
    """

    def __init__(self, config: HttpConfig, guard: RequestGuard, host: TransportContext) -> None:
        self._guard = guard
        self._host = host
        self.exchange: Exchange[HttpConnection] = Exchange(config, guard, host)  # a connection has one request
        self._tasks: dict[HttpConnection, asyncio.Task[Any]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._aborted = False
        self.send_limit = SendLimit(config.send_seconds)
        self._pings = Pings(config.stream_ping_seconds)
        self._loop = asyncio.get_running_loop()
        self._config = config
        self._written_response = WrittenResponse()

    def request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        """Return aiohttp's request, with the configured limit on its body."""
        protocol.request_begun(payload)
        limit = self._config.max_body_bytes
        return web.BaseRequest(message, payload, protocol, writer, task, self._loop, client_max_size=limit)

    async def answer(self, connection: HttpConnection, head: Any, content: Any) -> bool:
        """Answer a request before aiohttp makes an object of it.

        Return True when the response is written. Return False if `handle` must write it, also if an answer is pending.

        Leave requests to `handle` whose responses `plain_head` does not describe, or whose paths must be decoded.
        """
        if getattr(head, "method", "") != "POST" or head.should_close:  # errors have no method
            return False
        if (
            not self._has_plain_response(head.version)
            or head.upgrade  # aiohttp resets its parser after these
            or not _is_plain_path(head.path)
            or connection.writing_paused
            or self._host.stopping
            or (body := take_body(content)) is None
        ):
            return False
        path, remote, is_operator = head.path, connection.remote, connection.is_operator
        arrival = Arrival("POST", path, path, {}, head.headers, remote, is_operator, body)
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._tasks[connection] = task
        try:
            answer = await self._ready(connection, task, self.exchange.begin(arrival, connection))
        except BaseException:
            self.exchange.end(connection)
            raise
        finally:
            del self._tasks[connection]
        return self._finish(connection, answer)

    def _has_plain_response(self, version: HttpVersion) -> bool:
        """Return True if `plain_head` may describe the response to a POST request on a connection that stays open."""
        return version == HttpVersion11 and not (self._guard.has_cors or wants_access_log())

    def _finish(self, connection: HttpConnection, answer: Response | EventStream) -> bool:
        """Write a plain response. Leave other responses, and data that the peer does not read at once, to `handle`."""
        if connection.transport is None:
            self._discard(connection, answer)
        elif type(answer) is not Response or not self._write(connection, answer):
            connection.pending = answer
        elif connection.writing_paused:
            connection.pending = self._written_response
        else:
            self.exchange.end(connection)
            return True
        return False

    def _write(self, connection: HttpConnection, answer: Response) -> bool:
        """Write a response if `plain_head` describes it and it need not be written in parts."""
        transport, body = connection.transport, answer.body
        if transport is None or not is_plain(answer) or self._host.stopping:
            return False
        if len(body) <= MAX_JOINED_BODY_BYTES:
            transport.write(plain_head(body) + body)
        elif connection.ssl_context is None:
            transport.write(plain_head(body))
            transport.write(body)  # apart from the head, so that it is not copied
        else:
            return False
        return True

    def drop(self, connection: HttpConnection) -> None:
        """Discard the answer of a connection that was lost before `handle` could take it."""
        self._discard(connection, _take(connection))

    def _discard(self, connection: HttpConnection, answer: Any) -> None:
        """End a request without its response. Close the response if it is a stream."""
        self.exchange.end(connection)
        if isinstance(answer, EventStream):
            task = self._loop.create_task(close_messages(answer.messages))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request. It may have an answer already."""
        connection = request.protocol
        assert isinstance(connection, HttpConnection)
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._tasks[connection] = task
        try:
            answer = _take(connection)
            is_written = answer is self._written_response
            if answer is None:
                pending = self.exchange.begin(self._arrival(request, connection), connection)
                answer = await self._ready(connection, task, pending)
                if type(answer) is Response and request.method == "POST" and request.keep_alive:
                    is_written = self._has_plain_response(request.version) and self._write(connection, answer)
            if is_written:
                if connection.writing_paused:
                    await request.writer.drain()
                return self._written_response
            if isinstance(answer, EventStream):
                return await self._stream(request, answer, task)
            response = self._response(request, answer)
            if len(answer.body) > MAX_JOINED_BODY_BYTES:
                await self._write_whole(request, response)
            return response
        finally:
            del self._tasks[connection]
            self.exchange.end(connection)

    def _arrival(self, request: web.BaseRequest, connection: HttpConnection) -> Arrival:
        target = request.raw_path
        notes = None
        if wants_access_log():
            notes = request[REQUEST_NOTES] = {}
        return Arrival(
            request.method,
            target,
            request.path,
            request.query if "?" in target else {},
            request.headers,
            connection.remote,
            connection.is_operator,
            arrived_body(request),
            request.content_length,
            partial(read_body, request),
            notes,
        )

    async def end_streams(self, seconds: float) -> None:
        """Wait until finished responses are written. Then end the streams that are open.

        Args:
            seconds: the time limit for writing finished responses, and for ending streams.
        """
        await self._settle(set(self._tasks.values()), seconds)
        await self._cut({self._tasks[connection] for connection in self.exchange.streaming}, seconds)

    async def end_requests(self, seconds: float) -> None:
        """End the unfinished requests as far as HTTP allows.

        Args:
            seconds: the time limit.
        """
        await self._cut(set(self._tasks.values()), seconds)

    async def _cut(self, tasks: set[asyncio.Task[Any]], seconds: float) -> None:
        self._aborted = True
        for task in self._waiting & tasks:
            task.cancel()
        await self._settle(tasks, seconds)

    async def _settle(self, tasks: set[asyncio.Task[Any]], seconds: float) -> None:
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        while self._host.stopping and self.exchange.in_flight - self._tasks.keys():  # noqa: ASYNC110 - tasks take them soon
            await asyncio.sleep(0)

    async def _ready(
        self, connection: HttpConnection, task: asyncio.Task[Any], pending: Answer | Awaitable[Answer]
    ) -> Answer:
        """Return an answer when it is ready, or the response that it took too long or that the server stops.

        A route may answer a request that is cancelled because the server stops.
        """
        if isinstance(pending, Answer):
            return pending
        self._waiting.add(task)
        try:
            answer = await pending
            if self._host.stopping and task.cancelling():
                if not self._aborted:
                    raise asyncio.CancelledError
                task.uncancel()
            return answer
        except asyncio.CancelledError:
            if self._aborted and connection.transport is not None:
                task.uncancel()
                return STOPPING
            raise
        finally:
            self._waiting.discard(task)

    def _response(self, request: web.BaseRequest, answer: Response) -> web.Response:
        method, path, headers, notes = request.method, request.path, request.headers, notes_of(request)
        self.exchange.log_refusal(method, path, headers, request.remote, answer, notes)
        response = web.Response(status=answer.status, body=answer.body or None, headers=answer.headers or None)
        if answer.body:
            response.headers[hdrs.CONTENT_TYPE] = answer.content_type
        self._add_fields(request, response)
        return response

    def _add_fields(self, request: web.BaseRequest, response: web.StreamResponse) -> None:
        headers = response.headers
        headers[hdrs.SERVER] = "pegboard"  # hides the versions of Python and aiohttp
        if cors := self._guard.cors(request.headers):
            headers.update(cors)
        if headers.get(hdrs.CONNECTION) == "close" or self._host.stopping:
            response.force_close()

    async def _write_whole(self, request: web.BaseRequest, response: web.Response) -> None:
        """Write a large response. Abort the connection if the peer stops reading."""
        body = response.body
        await response.prepare(request)
        if isinstance(body, bytes) and request.method != hdrs.METH_HEAD and response.status not in (204, 304):
            await write_all(request, body)
            response.body = None
        await response.write_eof()

    async def _stream(
        self, request: web.BaseRequest, answer: EventStream, task: asyncio.Task[Any]
    ) -> web.StreamResponse:
        """Answer with a stream of events. If the server stops before the end, write the last message.

        A stream may stay open for long and does not count as a request in flight.
        """
        connection = request.protocol
        assert isinstance(connection, HttpConnection)
        try:
            if not self.exchange.begin_stream(connection):
                return self._response(request, BUSY)
            response = await self._begin_stream(request, answer)
            self._waiting.add(task)
            is_cut = False
            try:
                self._pings.restart(request)
                async for message in answer.messages:
                    await write_all(request, encode_event(message))
                    del message  # the next message may be hours away
                    self._pings.restart(request)
            except asyncio.CancelledError:
                if not self._aborted or request.transport is None:
                    raise
                task.uncancel()
                is_cut = True
            finally:
                self._waiting.discard(task)
                self._pings.end(request)
            if is_cut and answer.cut is not None:
                await write_all(request, encode_event(answer.cut()))
            await request.writer.write_eof()
        finally:
            self.exchange.end(connection)
            await close_messages(answer.messages)
        return response

    async def _begin_stream(self, request: web.BaseRequest, answer: EventStream) -> web.StreamResponse:
        """Write the head of a stream. Return the response for aiohttp.

        aiohttp's own response and request would keep more than a KiB for as long as the stream is open.
        """
        response = web.StreamResponse(headers={**answer.headers, "Content-Type": "text/event-stream"})
        self._add_fields(request, response)
        await response.prepare(request)
        forget_facts(request)
        return self._written_response if response.keep_alive and not wants_access_log() else response


def _take(connection: HttpConnection) -> Any:
    """Return the pending answer of a connection, and remove it."""
    pending, connection.pending = connection.pending, None
    return pending


# --- The most frequent response, JSON with status 200 to a request of which aiohttp made no object.
# aiohttp's own response costs as much as a call of a small tool, and copies the body. It serves all other responses.

MAX_JOINED_BODY_BYTES = 64 * 1024
"""The largest body that is written together with the head. It fits into the buffers between the server and the peer."""


class WrittenResponse(web.StreamResponse):
    """A response that has been written already, on a connection that stays open."""

    @property
    def keep_alive(self) -> bool:
        """True, because another request may follow on the connection."""
        return True

    async def prepare(self, request: web.BaseRequest) -> None:
        """Do nothing."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing."""


def plain_head(body: bytes) -> bytes:
    """Return the head of the response with a body (RFC 9112, section 2.1)."""
    return _head(int(time())) % len(body)


def is_plain(answer: Response) -> bool:
    """Return True if `plain_head` describes a response."""
    return (
        answer.status == 200 and not answer.headers and answer.body != b"" and answer.content_type == "application/json"
    )


@lru_cache(maxsize=1)
def _head(now: int) -> bytes:
    """Return a head of these responses. Within one second only Content-Length changes."""
    date = formatdate(now, usegmt=True)
    text = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: pegboard\r\nDate: {date}\r\n"
    return f"{text}Content-Length: %d\r\n\r\n".encode()
