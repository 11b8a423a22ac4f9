"""The host as an ASGI 3 application: the requests that an ASGI server reads, and their responses.

The ASGI server accepts connections, reads headers and proves nothing about its clients. Without names in
`allowed_hosts`, only clients of this machine are served.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

from pegboard.plugin import AsgiCallable, TransportContext
from pegboard.types import EventStream, Response
from pegboard_plugins.transports.http.access_log import log_access, wants_access_log
from pegboard_plugins.transports.http.asgi_request import AsgiRequest, DisconnectedError, Event, Receive, Send
from pegboard_plugins.transports.http.authority import parse_authority
from pegboard_plugins.transports.http.exchange import Answer, Arrival, Exchange
from pegboard_plugins.transports.http.refusal_responses import BUSY, STOPPING
from pegboard_plugins.transports.http.request_guard import RequestGuard
from pegboard_plugins.transports.http.sent_events import PING, close_messages, encode_event, next_message
from pegboard_plugins.transports.http.settings import HttpConfig

ASGI_FINISH_SECONDS = 0.2
"""The time limit for the end of running requests after the host has stopped accepting calls."""


@asynccontextmanager
async def serve_asgi(
    config: HttpConfig, host: TransportContext, serving: Callable[[Exchange[Any]], None]
) -> AsyncIterator[AsgiCallable]:
    """Yield the application. Requests that still run at the end are ended.

    Args:
        config: the settings of HTTP servers.
        host: the host that provides the routes.
        serving: called with the requests of the application.

    Raises:
        ConfigError: the server has names beyond loopback, but a route has no authenticator.
        PluginError: a configured store cannot be opened.
    """
    local = not (config.trusted_proxies or any(map(_is_public, (*config.allowed_hosts, *host.public_hosts))))
    await host.open_stores()
    host.opened("the ASGI application", local=local)
    server = AsgiServer(config, host, local=local)
    serving(server.exchange)
    try:
        yield server
    finally:
        await server.finish(ASGI_FINISH_SECONDS)


class AsgiServer:
    """The application while the host runs.

    Args:
        config: the settings of HTTP servers.
        host: the host that provides the routes.
        local: True if only clients of this machine are served.

    Attributes:
        exchange: the requests.
    """

    def __init__(self, config: HttpConfig, host: TransportContext, *, local: bool) -> None:
        self._config = config
        self._host = host
        self._guard = RequestGuard(config, loopback=local, public_hosts=host.public_hosts, only_local=local)
        self.exchange: Exchange[AsgiRequest] = Exchange(config, self._guard, host)

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        began = perf_counter()
        request = AsgiRequest(scope, receive, send, self._config.send_seconds)
        notes: dict[str, Any] | None = {} if wants_access_log() else None
        try:
            await self._handle(request, notes)
        except DisconnectedError:
            pass
        finally:
            request.close()
            self.exchange.end(request)
        if notes is not None and request.status:
            took, peer, caller = (
                perf_counter() - began,
                self._guard.peer(request.headers, request.client),
                notes.get("caller"),
            )
            log_access(request.method, request.path, request.status, request.sent, took, peer=peer, caller=caller)

    async def finish(self, seconds: float) -> None:
        """Wait until requests have ended. Then end unfinished requests as far as HTTP allows."""
        for _ in range(2):
            if left := self.exchange.in_flight | self.exchange.streaming:
                await asyncio.wait([arrival.finished for arrival in left], timeout=seconds)
            for arrival in self.exchange.in_flight | self.exchange.streaming:
                arrival.end("stopping")

    async def _handle(self, request: AsgiRequest, notes: dict[str, Any] | None) -> None:
        arrival = Arrival(
            method=request.method,
            target=request.path,
            path=request.path,
            query=request.query,
            headers=request.headers,
            remote=request.client,
            is_operator=False,
            body=None,
            size=request.size,
            read=request.body,
            notes=notes,
        )
        answer = self.exchange.begin(arrival, request)
        if not isinstance(answer, Answer):
            answer = await self._ready(request, answer)
        if isinstance(answer, EventStream):
            return await self._begin_stream(request, answer)
        return await self._send(request, answer, notes)

    async def _ready(self, request: AsgiRequest, answer: Awaitable[Answer]) -> Answer:
        """Return an answer when it is ready, or the response that the server stops.

        Raises:
            DisconnectedError: the client has disconnected.
        """
        running = asyncio.ensure_future(answer)
        try:
            await asyncio.wait((running, request.ending), return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait((running,))
        if request.ending.result() == "stopping":
            return STOPPING if running.cancelled() else running.result()
        raise DisconnectedError

    async def _send(self, request: AsgiRequest, answer: Response, notes: dict[str, Any] | None = None) -> None:
        method, path, headers = request.method, request.path, request.headers
        self.exchange.log_refusal(method, path, headers, request.client, answer, notes or {})
        fields = list(self._fields(request, answer.headers.items()))
        if answer.body:
            fields.append(("Content-Type", answer.content_type))
        if answer.body or answer.status not in (204, 304):
            fields.append(("Content-Length", str(len(answer.body))))
        await request.begin(answer.status, fields)
        await request.write(b"" if method == "HEAD" else answer.body, more=False)

    def _fields(self, request: AsgiRequest, own: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
        yield from own
        yield from self._guard.cors(request.headers).items()
        if self._host.stopping:
            yield "Connection", "close"

    async def _begin_stream(self, request: AsgiRequest, answer: EventStream) -> None:
        """Answer with a stream. A stream may stay open for long and does not count as a request in flight."""
        try:
            if not self.exchange.begin_stream(request):
                return await self._send(request, BUSY)
            fields = self._fields(request, (*answer.headers.items(), ("Content-Type", "text/event-stream")))
            await request.begin(200, fields)
            await self._write_events(request, answer)
            await request.write(b"", more=False)
        finally:
            await close_messages(answer.messages)

    async def _write_events(self, request: AsgiRequest, answer: EventStream) -> None:
        """Write each message as an event. Write a comment after each interval without messages."""
        messages, seconds = answer.messages, self._config.stream_ping_seconds
        following = next_message(messages)
        try:
            while True:
                await asyncio.wait((following, request.ending), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                if following.done():
                    if (message := following.result()) is None:
                        return
                    following = next_message(messages)
                    await request.write(encode_event(message), more=True)
                elif not request.ending.done():
                    await request.write(PING, more=True)
                elif request.ending.result() == "disconnected":
                    raise DisconnectedError
                else:
                    if answer.cut is not None:
                        await request.write(encode_event(answer.cut()), more=True)
                    return
        finally:
            following.cancel()
            await asyncio.wait((following,))  # a running iterator cannot be closed


def _is_public(host: str) -> bool:
    """Return True if a name of the server is not a loopback name."""
    authority = parse_authority(host)
    return authority is None or not authority.is_loopback
