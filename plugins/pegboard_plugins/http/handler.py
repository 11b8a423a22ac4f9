"""The path of one HTTP request: guard, limits, body, the host's routes, and the response."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any, TypeVar

from aiohttp import HttpVersion11, hdrs, web

from pegboard.plugin import TransportContext
from pegboard.types import ANONYMOUS, EMPTY, LOCAL, EventStream, Headers, Request, Response
from pegboard_plugins.http.access_log import log_refusal, wants_access_log
from pegboard_plugins.http.aiohttp_access_log import REQUEST_NOTES, notes_of
from pegboard_plugins.http.aiohttp_internals import forget_facts, take_body
from pegboard_plugins.http.fast_response import (
    MAX_JOINED_BODY_BYTES,
    ResponseHead,
    WrittenResponse,
    is_fast,
    is_plain,
)
from pegboard_plugins.http.http_connection import HttpConnection
from pegboard_plugins.http.refusal_responses import (
    BUSY,
    HEALTH_PATHS,
    STOPPING,
    TOOK_TOO_LONG,
)
from pegboard_plugins.http.request_bodies import RequestBodies
from pegboard_plugins.http.request_guard import RequestGuard
from pegboard_plugins.http.sending import Pings, SendLimit, write_all
from pegboard_plugins.http.sent_events import close_messages, encode_event
from pegboard_plugins.http.settings import HttpConfig

logger = logging.getLogger("pegboard.plugins.http")

_T = TypeVar("_T")

_is_plain_path = re.compile(r"/[A-Za-z0-9._~/-]*").fullmatch
"""A path without a query and without characters that must be decoded."""


class Handler:
    """The request handler of one server.

    Args:
        config: the server's settings.
        guard: the checks before any route.
        host: the host that provides the routes.
    """

    def __init__(self, config: HttpConfig, guard: RequestGuard, host: TransportContext) -> None:
        self._config = config
        self._guard = guard
        self._host = host
        self._in_flight: set[asyncio.Task[Any]] = set()
        self._pending: set[HttpConnection] = set()  # their tasks must wait for an answer, or write it
        self._streaming: set[asyncio.Task[Any]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._bodies = RequestBodies(config)
        self._aborted = False
        self.send_limit = SendLimit(config.send_seconds)
        self._pings = Pings(config.stream_ping_seconds)
        self._loop = asyncio.get_running_loop()
        self._head = ResponseHead()
        self._keeps_log = wants_access_log()
        self._needs_task = self._keeps_log or guard.has_cors
        self._max_requests, self._max_body_bytes = config.max_requests, config.max_body_bytes
        self._call_seconds = config.call_seconds
        self._written_response = WrittenResponse()

    @property
    def load(self) -> tuple[int, int]:
        """The number of requests in flight, and of open event streams."""
        return len(self._in_flight), len(self._streaming)

    def request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        """Return aiohttp's request, with the configured limit on its body."""
        protocol.request_begun(payload)
        limit = self._max_body_bytes
        return web.BaseRequest(message, payload, protocol, writer, task, self._loop, client_max_size=limit)

    def begin(self, connection: HttpConnection, head: Any, content: Any) -> bool | Coroutine[Any, Any, bool]:
        """Begin a request outside any task. Return True if the response is written, or a coroutine that writes it.

        Only plain requests are begun, because `handle` has the other limits.
        """
        if self._needs_task or getattr(head, "method", "") != "POST":  # aiohttp's errors have no method
            return False
        headers = head.headers
        if (
            head.version != HttpVersion11
            or head.should_close
            or head.upgrade  # aiohttp resets its parser after these
            or not _is_plain_path(head.path)
            or head.chunked  # other transfer codings are refused
            or hdrs.CONTENT_ENCODING in headers
            or content.total_bytes > self._max_body_bytes
            or connection.writing_paused
            or self._is_full()
            or self._host.stopping
            or self._guard.refusal(head.path, headers, connection.remote) is not None
            or (body := take_body(content)) is None
        ):
            return False
        answer = self._host.begin(self._neutral(connection, "POST", head.path, EMPTY, headers, body))
        if isinstance(answer, Response | EventStream):
            return self._write(connection, answer)
        self._leave(connection, answer)
        return self._complete(connection)

    async def _complete(self, connection: HttpConnection) -> bool:
        """Write the response of a request that was begun, when it is ready. Return False if `handle` must write it."""
        task = asyncio.current_task(self._loop)
        assert task is not None
        pending = self._take(connection)
        self._in_flight.add(task)
        try:
            answer = await self._ready(connection, task, pending, self._call_seconds)
        finally:
            self._in_flight.discard(task)
        return self._write(connection, answer)

    def _write(self, connection: HttpConnection, answer: Response | EventStream) -> bool:
        """Write a plain response. Leave others to `handle`, and a plain one that the peer does not read at once."""
        transport = connection.transport
        if transport is None:
            self._discard(answer)
            return False
        if type(answer) is Response and is_plain(answer) and not self._host.stopping:
            head, body = self._head.of(answer.body), answer.body
            if len(body) <= MAX_JOINED_BODY_BYTES:
                transport.write(head + body)
            elif connection.ssl_context is None:
                transport.write(head)
                transport.write(body)  # apart from the head, so that it is not copied
            else:
                self._leave(connection, answer)  # it is written in parts
                return False
            if not connection.writing_paused:
                return True
            self._leave(connection, self._written_response)
            return False
        self._leave(connection, answer)
        return False

    def _leave(self, connection: HttpConnection, answer: Any) -> None:
        """Leave an answer to a task. The request counts as one in flight until the task takes the answer."""
        connection.pending = answer
        self._pending.add(connection)

    def _take(self, connection: HttpConnection) -> Any:
        pending, connection.pending = connection.pending, None
        self._pending.discard(connection)
        return pending

    def drop(self, connection: HttpConnection) -> None:
        """Discard the answer of a connection that was lost before `handle` could take it."""
        self._discard(self._take(connection))

    def _discard(self, answer: Any) -> None:
        """Close a response that is not sent, if it is a stream."""
        if isinstance(answer, EventStream):
            task = self._loop.create_task(close_messages(answer.messages))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request. It may have been begun."""
        connection = request.protocol
        assert isinstance(connection, HttpConnection)
        pending = self._take(connection)
        if pending is None and self._is_full() and request.path not in HEALTH_PATHS:
            return self._response(request, BUSY)
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._in_flight.add(task)
        try:
            if isinstance(pending, WrittenResponse):
                await request.writer.drain()
                return pending
            answer = await self._answer(request, task) if pending is None else pending
            if isinstance(answer, EventStream):
                return await self._stream(request, answer, task)
            if is_fast(request, answer) and not (self._guard.cors(request.headers) or self._host.stopping):
                await self._write_fast(request, answer.body)
                return self._written_response
            response = self._response(request, answer)
            if len(answer.body) > MAX_JOINED_BODY_BYTES:
                await self._write_whole(request, response)
            return response
        finally:
            self._in_flight.discard(task)
            self._bodies.forget(task)

    def _is_full(self) -> bool:
        """Return True if the server may begin no further request."""
        return len(self._in_flight) + len(self._pending) >= self._max_requests

    async def end_streams(self, seconds: float) -> None:
        """Wait until finished responses are written. Then end the streams that are open.

        Args:
            seconds: the time limit for writing finished responses, and for ending streams.
        """
        await self._settle(self._in_flight | self._streaming, seconds)
        await self._cut(self._streaming, seconds)

    async def end_requests(self, seconds: float) -> None:
        """End the unfinished requests as far as HTTP allows.

        Args:
            seconds: the time limit.
        """
        await self._cut(self._in_flight | self._streaming, seconds)

    async def _cut(self, tasks: set[asyncio.Task[Any]], seconds: float) -> None:
        self._aborted = True
        for task in self._waiting & tasks:
            task.cancel()
        await self._settle(tasks, seconds)

    async def _settle(self, tasks: set[asyncio.Task[Any]], seconds: float) -> None:
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        while self._pending and self._host.stopping:  # noqa: ASYNC110 - tasks take them within a few turns of the loop
            await asyncio.sleep(0)

    async def _answer(self, request: web.BaseRequest, task: asyncio.Task[Any]) -> Response | EventStream:
        headers = request.headers
        if (refusal := self._guard.refusal(request.raw_path, headers, request.remote)) is not None:
            return refusal
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in headers:
            return self._guard.preflight(headers)
        body = await self._ready(request.protocol, task, self._bodies.read(request, task), 0)
        if not isinstance(body, bytes):
            return body
        query = request.query if "?" in request.raw_path else EMPTY
        neutral = self._neutral(request.protocol, request.method, request.path, query, headers, body)
        if self._keeps_log:
            notes = request[REQUEST_NOTES] = {"caller": neutral.caller, "peer": neutral.peer}
            neutral = neutral._replace(notes=notes)
        return await self._ready(request.protocol, task, self._host.begin(neutral), self._call_seconds)

    def _neutral(
        self, connection: Any, method: str, path: str, query: Mapping[str, str], headers: Headers, body: bytes
    ) -> Request:
        is_operator = connection.is_operator and self._guard.is_direct(headers)
        peer = self._guard.peer(headers, connection.remote)
        request = Request(method, path, query, headers, body, LOCAL if is_operator else ANONYMOUS, peer)
        host = self._guard.forwarded_host(headers, connection.remote)
        return request._replace(forwarded_host=host) if host else request

    async def _ready(
        self, connection: Any, task: asyncio.Task[Any], pending: Response | EventStream | Awaitable[_T], seconds: float
    ) -> _T | Response | EventStream:
        """Return an answer when it is ready, or the response that it took too long or that the server stops.

        A route may answer a request that is cut because the server stops.
        """
        if isinstance(pending, Response | EventStream):
            return pending
        self._waiting.add(task)
        try:
            answer = await (_limited(pending, seconds) if seconds else pending)
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
        if answer.status >= 400:
            method, path, headers, caller = (
                request.method,
                request.path,
                request.headers,
                notes_of(request).get("caller"),
            )
            log_refusal(method, path, headers, answer, peer=self._guard.peer(headers, request.remote), caller=caller)
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

    async def _write_fast(self, request: web.BaseRequest, body: bytes) -> None:
        """Write a response. Wait only if the peer does not read it at once."""
        head = self._head.of(body)
        if len(body) > MAX_JOINED_BODY_BYTES:
            await request.writer.write(head)
            await write_all(request, body)  # apart from the head, so that it is not copied
        else:
            await request.writer.write(head + body)
        if request.protocol.writing_paused:
            await request.writer.drain()

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
        if len(self._streaming) >= self._config.max_streams:
            await close_messages(answer.messages)
            return self._response(request, BUSY)
        self._in_flight.discard(task)
        self._streaming.add(task)
        try:
            response = await self._begin_stream(request, answer)
            self._waiting.add(task)
            is_cut = False
            try:
                self._pings.restart(request)
                async for message in answer.messages:
                    await write_all(request, encode_event(message))
                    del message  # the next one may be hours away
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
            self._streaming.discard(task)
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
        return self._written_response if response.keep_alive and not self._keeps_log else response


async def _limited(answer: Awaitable[_T], seconds: float) -> _T | Response:
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        return TOOK_TOO_LONG
