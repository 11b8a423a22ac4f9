"""The host as an ASGI 3 application: guard, limits, body, the host's routes, and the response.

The ASGI server accepts connections, reads headers and proves nothing about its clients. Without names in
`allowed_hosts`, only clients of this machine are served.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from time import perf_counter
from typing import Any

from pegboard.plugin import AsgiCallable, AsgiReceive, AsgiScope, AsgiSend, TransportContext
from pegboard.types import EventStream, Request, Response
from pegboard_plugins.http.access_log import log_access, log_refusal, wants_access_log
from pegboard_plugins.http.asgi_exchange import AsgiExchange, BodyTooLargeError, DisconnectedError
from pegboard_plugins.http.authority import parse_authority
from pegboard_plugins.http.large_bodies import LargeBodies
from pegboard_plugins.http.refusal_responses import (
    BUSY,
    ENCODED,
    HEALTH_PATHS,
    NO_ROOM,
    STOPPING,
    TOO_SLOW,
    TOOK_TOO_LONG,
    too_large,
)
from pegboard_plugins.http.request_guard import RequestGuard
from pegboard_plugins.http.sent_events import PING, close_messages, encode_event, next_message
from pegboard_plugins.http.settings import HttpConfig

ASGI_FINISH_SECONDS = 0.2
"""The time limit for the end of running requests after the host has stopped accepting calls."""

_NOT_LOCAL = Response(
    status=403,
    body=b"Only clients of this machine are served. "
    b"The operator can add the names of the server to [plugins.http] allowed_hosts.\n",
    content_type="text/plain",
)


@asynccontextmanager
async def serve_asgi(
    config: HttpConfig, host: TransportContext, serving: Callable[[AsgiServer], None]
) -> AsyncIterator[AsgiCallable]:
    """Yield the application. Requests that still run at the end are ended.

    Args:
        config: the settings of HTTP servers.
        host: the host that provides the routes.
        serving: called with the application.

    Raises:
        ConfigError: the server has names beyond loopback, but a route has no authenticator.
        PluginError: a configured store cannot be opened.
    """
    local = not (config.trusted_proxies or any(map(_is_public, (*config.allowed_hosts, *host.public_hosts))))
    await host.open_stores()
    host.opened("the ASGI application", local=local)
    server = AsgiServer(config, host, local=local)
    serving(server)
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
    """

    def __init__(self, config: HttpConfig, host: TransportContext, *, local: bool) -> None:
        self._config = config
        self._host = host
        self._local = local
        self._guard = RequestGuard(config, loopback=local, public_hosts=host.public_hosts)
        self._in_flight: set[AsgiExchange] = set()
        self._streaming: set[AsgiExchange] = set()
        self._large_bodies = LargeBodies(config.max_body_bytes)
        self._too_large = too_large(config.max_body_bytes)
        self._keeps_log = wants_access_log()

    @property
    def load(self) -> tuple[int, int]:
        """The number of requests in flight, and of open event streams."""
        return len(self._in_flight), len(self._streaming)

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer one request."""
        began = perf_counter()
        exchange = AsgiExchange(scope, receive, send, self._config.send_seconds)
        notes: dict[str, Any] | None = {} if self._keeps_log else None
        try:
            await self._handle(exchange, notes)
        except DisconnectedError:
            pass
        finally:
            exchange.close()
            self._in_flight.discard(exchange)
            self._streaming.discard(exchange)
            self._large_bodies.forget(exchange)
        if notes is not None and exchange.status:
            took, peer, caller = perf_counter() - began, self._peer(exchange), notes.get("caller")
            log_access(exchange.method, exchange.path, exchange.status, exchange.sent, took, peer=peer, caller=caller)

    async def finish(self, seconds: float) -> None:
        """Wait until requests have ended. Then end unfinished requests as far as HTTP allows."""
        for _ in range(2):
            if left := self._in_flight | self._streaming:
                await asyncio.wait([one.finished for one in left], timeout=seconds)
            for one in self._in_flight | self._streaming:
                one.end("stopping")

    async def _handle(self, exchange: AsgiExchange, notes: dict[str, Any] | None) -> None:
        if len(self._in_flight) >= self._config.max_requests and exchange.path not in HEALTH_PATHS:
            return await self._send(exchange, BUSY)
        self._in_flight.add(exchange)
        answer = self._refusal(exchange) or await self._answer(exchange, notes)
        if isinstance(answer, EventStream):
            return await self._begin_stream(exchange, answer)
        return await self._send(exchange, answer, notes)

    def _refusal(self, exchange: AsgiExchange) -> Response | None:
        """Return the response to a request that no route sees."""
        headers = exchange.headers
        if (refusal := self._guard.refusal(exchange.path, headers, exchange.client)) is not None:
            return refusal
        if self._local and not _is_loopback(exchange.client):
            return _NOT_LOCAL
        if exchange.method == "OPTIONS" and "Access-Control-Request-Method" in headers:
            return self._guard.preflight(headers)
        return None

    async def _answer(self, exchange: AsgiExchange, notes: dict[str, Any] | None) -> Response | EventStream:
        body = await self._body(exchange)
        if isinstance(body, Response):
            return body
        request = Request(
            method=exchange.method,
            path=exchange.path,
            query=exchange.query,
            headers=exchange.headers,
            body=body,
            peer=self._peer(exchange),
            notes=notes,
            forwarded_host=self._guard.forwarded_host(exchange.headers, exchange.client),
        )
        exchange.watch()
        running = asyncio.ensure_future(self._host.respond(request))
        try:
            limit = self._config.call_seconds or None
            await asyncio.wait((running, exchange.ending), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait((running,))
        if not exchange.ending.done():
            return TOOK_TOO_LONG
        if exchange.ending.result() == "stopping":
            return STOPPING if running.cancelled() else running.result()
        raise DisconnectedError

    async def _body(self, exchange: AsgiExchange) -> bytes | Response:
        """Read the whole body within the limits on size and time. Read nothing if Content-Length exceeds the limit."""
        size = _declared_size(exchange)
        if size != 0 and exchange.headers.get("Content-Encoding", "identity").lower() != "identity":
            return ENCODED
        if (size or 0) > self._config.max_body_bytes:
            return self._too_large
        if not self._large_bodies.has_room(size, exchange):
            return NO_ROOM
        try:
            async with asyncio.timeout(self._config.body_seconds):
                body = await exchange.body(self._config.max_body_bytes)
        except BodyTooLargeError:
            return self._too_large
        except TimeoutError:
            return TOO_SLOW
        self._large_bodies.has_room(len(body), exchange)
        return body

    async def _send(self, exchange: AsgiExchange, answer: Response, notes: dict[str, Any] | None = None) -> None:
        method, path, headers = exchange.method, exchange.path, exchange.headers
        if answer.status >= 400:
            log_refusal(method, path, headers, answer, peer=self._peer(exchange), caller=(notes or {}).get("caller"))
        fields = list(self._fields(exchange, answer.headers.items()))
        if answer.body:
            fields.append(("Content-Type", answer.content_type))
        if answer.body or answer.status not in (204, 304):
            fields.append(("Content-Length", str(len(answer.body))))
        await exchange.begin(answer.status, fields)
        await exchange.write(b"" if method == "HEAD" else answer.body, more=False)

    def _fields(self, exchange: AsgiExchange, own: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
        yield from own
        yield from self._guard.cors(exchange.headers).items()
        if self._host.stopping:
            yield "Connection", "close"

    async def _begin_stream(self, exchange: AsgiExchange, answer: EventStream) -> None:
        """Answer with a stream. A stream may stay open for long and does not count as a request in flight."""
        try:
            if len(self._streaming) >= self._config.max_streams:
                return await self._send(exchange, BUSY)
            self._in_flight.discard(exchange)
            self._streaming.add(exchange)
            fields = self._fields(exchange, (*answer.headers.items(), ("Content-Type", "text/event-stream")))
            await exchange.begin(200, fields)
            await self._write_events(exchange, answer)
            await exchange.write(b"", more=False)
        finally:
            await close_messages(answer.messages)

    async def _write_events(self, exchange: AsgiExchange, answer: EventStream) -> None:
        """Write each message as an event. Write a comment after each interval without messages."""
        messages, seconds = answer.messages, self._config.stream_ping_seconds
        following = next_message(messages)
        try:
            while True:
                await asyncio.wait((following, exchange.ending), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                if following.done():
                    if (message := following.result()) is None:
                        return
                    following = next_message(messages)
                    await exchange.write(encode_event(message), more=True)
                elif not exchange.ending.done():
                    await exchange.write(PING, more=True)
                elif exchange.ending.result() == "disconnected":
                    raise DisconnectedError
                else:
                    if answer.cut is not None:
                        await exchange.write(encode_event(answer.cut()), more=True)
                    return
        finally:
            following.cancel()
            await asyncio.wait((following,))  # a running iterator cannot be closed

    def _peer(self, exchange: AsgiExchange) -> str:
        return self._guard.peer(exchange.headers, exchange.client)


def _declared_size(exchange: AsgiExchange) -> int | None:
    """Return the size of the body; None if the client does not declare it."""
    given = exchange.headers.get("Content-Length")
    if given is None:
        return 0 if exchange.is_http1 and "Transfer-Encoding" not in exchange.headers else None
    return int(given) if given.isascii() and given.isdigit() else None


def _is_loopback(address: str | None) -> bool:
    """Return True if a client is on this machine. A client with an unknown address may be anywhere."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def _is_public(host: str) -> bool:
    """Return True if a name of the server is not a loopback name."""
    authority = parse_authority(host)
    return authority is None or not authority.is_loopback
