"""One HTTP request: the edge, the limits, the body, then the host's routes; and the response written back."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

from aiohttp import web

from pegboard import Caller, EventStream, Request, Response, TransportHost
from pegboard_plugins.http import HttpConfig
from pegboard_plugins.http.edge import Edge

_BUSY = Response(503, b"The server is busy.\n", "text/plain", {"Retry-After": "1"})
_TOO_LARGE = Response(413, b"The body is too large.\n", "text/plain", {"Connection": "close"})
_TOO_SLOW = Response(408, b"The body came too slowly.\n", "text/plain", {"Connection": "close"})
_ENCODED = Response(415, b"Send the body without a content encoding.\n", "text/plain")
_TOOK_TOO_LONG = Response(504, b"The request took too long.\n", "text/plain")

_PING = b": ping\n\n"


class Handler:
    """Answers every request of one server.

    Args:
        config: the server's settings.
        edge: the checks before any route.
        host: what the routes are asked of.
        trusted: only programs of this machine can reach the server.
    """

    def __init__(self, config: HttpConfig, edge: Edge, host: TransportHost, *, trusted: bool) -> None:
        self._config = config
        self._edge = edge
        self._host = host
        self._caller = Caller(trusted=trusted)
        self._in_flight = 0
        self._loop = asyncio.get_running_loop()

    def request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        """Aiohttp's request, with our limit on its body."""
        limit = self._config.max_body_bytes
        return web.BaseRequest(message, payload, protocol, writer, task, self._loop, client_max_size=limit)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if self._in_flight >= self._config.max_requests:
            return self._response(request, _BUSY)
        self._in_flight += 1
        try:
            answer = await self._answer(request)
            if isinstance(answer, EventStream):
                return await self._stream(request, answer)
            return self._response(request, answer)
        finally:
            self._in_flight -= 1

    async def _answer(self, request: web.BaseRequest) -> Response | EventStream:
        headers = request.headers
        if (refusal := self._edge.refusal(headers, request.remote)) is not None:
            return refusal
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in headers:
            return self._edge.preflight(headers)
        body = await self._body(request) if request.can_read_body else b""
        if isinstance(body, Response):
            return body
        neutral = Request(
            request.method,
            request.path,
            request.query,
            headers,
            body,
            self._caller,
            self._edge.peer(headers, request.remote),
        )
        if not self._config.call_seconds:
            return await self._host.respond(neutral)
        try:
            async with asyncio.timeout(self._config.call_seconds):
                return await self._host.respond(neutral)
        except TimeoutError:
            return _TOOK_TOO_LONG

    async def _body(self, request: web.BaseRequest) -> bytes | Response:
        """The whole body, within the limits on size and time; the size is known before reading where it was announced."""
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return _ENCODED
        if (request.content_length or 0) > self._config.max_body_bytes:
            return _TOO_LARGE
        try:
            async with asyncio.timeout(self._config.body_seconds):
                return await request.read()
        except web.HTTPRequestEntityTooLarge:
            return _TOO_LARGE
        except TimeoutError:
            return _TOO_SLOW

    def _response(self, request: web.BaseRequest, answer: Response) -> web.Response:
        response = web.Response(status=answer.status, body=answer.body or None, headers=answer.headers)
        if answer.body:
            response.content_type = answer.content_type
        self._finish(request, response)
        return response

    def _finish(self, request: web.BaseRequest, response: web.StreamResponse) -> None:
        response.headers.update(self._edge.cors(request.headers))
        if response.headers.get("Connection") == "close" or self._host.stopping:
            response.force_close()

    async def _stream(self, request: web.BaseRequest, answer: EventStream) -> web.StreamResponse:
        response = web.StreamResponse(headers={**answer.headers, "Content-Type": "text/event-stream"})
        self._finish(request, response)
        async with aclosing(answer.messages) as messages:  # type: ignore[type-var]  # closed where it can be
            await response.prepare(request)
            await self._write(response, messages)
        await response.write_eof()
        return response

    async def _write(self, response: web.StreamResponse, messages: Any) -> None:
        """Write each message as an event, and a comment whenever there was none for a while."""
        following = asyncio.ensure_future(anext(messages, None))
        try:
            while True:
                await asyncio.wait((following,), timeout=self._config.stream_ping_seconds)
                if not following.done():
                    await response.write(_PING)
                    continue
                message = following.result()
                if message is None:
                    return
                await response.write(b"data: %b\n\n" % message)
                following = asyncio.ensure_future(anext(messages, None))
        finally:
            following.cancel()
