"""The steps of an HTTP request, whatever server reads it: limits, checks, body and route, in this order.

A server makes an `Arrival` of each request, and writes the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from multidict import istr

from pegboard.plugin import TransportContext
from pegboard.types import ANONYMOUS, LOCAL, EventStream, Headers, Request, Response
from pegboard_plugins.transports.http.access_log import log_refusal, log_refused_token
from pegboard_plugins.transports.http.refusal_responses import (
    BROKEN,
    BUSY,
    CODED,
    ENCODED,
    HEALTH_PATHS,
    NO_ROOM,
    TOO_SLOW,
    TOOK_TOO_LONG,
    too_large,
)
from pegboard_plugins.transports.http.request_guard import RequestGuard
from pegboard_plugins.transports.http.settings import HttpConfig

_CONTENT_ENCODING, _TRANSFER_ENCODING = istr("Content-Encoding"), istr("Transfer-Encoding")

Answer: TypeAlias = Response | EventStream
_Key = TypeVar("_Key", bound=Hashable)


class BodyTooLargeError(Exception):
    """The body is larger than the limit."""


class BrokenBodyError(Exception):
    """The framing of the body is not valid HTTP, or its client has gone."""


class Arrival(NamedTuple):
    """A request whose head has arrived.

    Attributes:
        method: the HTTP method.
        target: the request target, or the path if the server does not tell it.
        path: the path, percent-decoded, without the query.
        query: the query parameters.
        headers: the header fields.
        remote: the address of the peer; None if unknown.
        is_operator: True if the connection proves that the peer is the operator.
        body: the whole body; None if it has not arrived.
        size: the declared size of a body that has not arrived; None if unknown.
        read: reads a body that has not arrived, up to a number of bytes. It raises `BodyTooLargeError` or
            `BrokenBodyError`.
        notes: a mapping for the `caller` and the `peer` of the request; None if the server does not need them.
    """

    method: str
    target: str
    path: str
    query: Mapping[str, str]
    headers: Headers
    remote: str | None
    is_operator: bool
    body: bytes | None
    size: int | None = 0
    read: Callable[[int], Awaitable[bytes]] | None = None
    notes: dict[str, Any] | None = None


class Exchange(Generic[_Key]):
    """The requests of one server.

    Args:
        config: the server's settings.
        guard: the checks before any route.
        host: the host that provides the routes.

    Attributes:
        in_flight: the keys of the requests in flight.
        streaming: the keys of the requests whose event stream is open. They are not in flight.
    """

    def __init__(self, config: HttpConfig, guard: RequestGuard, host: TransportContext) -> None:
        self._config = config
        self._guard = guard
        self._host = host
        self._large_bodies = LargeBodies(config.max_body_bytes)
        self._too_large = too_large(config.max_body_bytes)
        self.in_flight: set[_Key] = set()
        self.streaming: set[_Key] = set()

    @property
    def load(self) -> tuple[int, int]:
        """The number of requests in flight, and of open event streams."""
        return len(self.in_flight), len(self.streaming)

    def begin(self, arrival: Arrival, key: _Key) -> Answer | Awaitable[Answer]:
        """Return the answer to a request, or an awaitable if its body or its route must wait.

        The request is in flight until `end`.

        Args:
            arrival: the request.
            key: identifies the request.
        """
        if len(self.in_flight) >= self._config.max_requests and arrival.path not in HEALTH_PATHS:
            return BUSY
        answer = self._begin(arrival, key)
        self.in_flight.add(key)
        return answer

    def end(self, key: _Key) -> None:
        """Stop counting a request after its response."""
        self.in_flight.discard(key)
        self.streaming.discard(key)
        self._large_bodies.forget(key)

    def begin_stream(self, key: _Key) -> bool:
        """Count a request as an open stream. Return False if too many are open."""
        if len(self.streaming) >= self._config.max_streams:
            return False
        self.in_flight.discard(key)
        self.streaming.add(key)
        return True

    def log_refusal(
        self, method: str, path: str, headers: Headers, remote: str | None, answer: Response, notes: Mapping[str, Any]
    ) -> None:
        """Log a response that refuses a request."""
        if answer.status >= 400:
            peer = self._guard.peer(headers, remote)
            log_refusal(method, path, headers, answer, peer=peer, caller=notes.get("caller"))
            log_refused_token(path, headers, answer, peer)

    def _begin(self, arrival: Arrival, key: _Key) -> Answer | Awaitable[Answer]:
        headers, body = arrival.headers, arrival.body
        if (refusal := self._guard.refusal(arrival.target, headers, arrival.remote)) is not None:
            return refusal
        if arrival.method == "OPTIONS" and headers.get("Access-Control-Request-Method") is not None:
            return self._guard.preflight(headers)
        if body is None:
            return self._read(arrival, key)
        if body and (refusal := self._body_refusal(headers, len(body))) is not None:
            return refusal
        return self._route(arrival, body)

    async def _read(self, arrival: Arrival, key: _Key) -> Answer:
        """Read the body within the limits on size, time and memory. Then run the route."""
        size = arrival.size
        if size != 0 and (refusal := self._body_refusal(arrival.headers, size or 0)) is not None:
            return refusal
        if not self._large_bodies.has_room(size, key):
            return NO_ROOM
        assert arrival.read is not None
        try:
            async with asyncio.timeout(self._config.body_seconds):
                body = await arrival.read(self._config.max_body_bytes)
        except BodyTooLargeError:
            return self._too_large
        except BrokenBodyError:
            return BROKEN
        except TimeoutError:
            return TOO_SLOW
        self._large_bodies.has_room(len(body), key)
        answer = self._route(arrival, body)
        return answer if isinstance(answer, Answer) else await answer

    def _body_refusal(self, headers: Headers, size: int) -> Response | None:
        """Return the error response to a body that is encoded or too large; None for other bodies."""
        encoding, coding = headers.get(_CONTENT_ENCODING), headers.get(_TRANSFER_ENCODING)
        if encoding is not None and encoding.lower() != "identity":
            return ENCODED
        if coding is not None and coding.strip().lower() != "chunked":
            return CODED
        return self._too_large if size > self._config.max_body_bytes else None

    def _route(self, arrival: Arrival, body: bytes) -> Answer | Awaitable[Answer]:
        method, _, path, query, headers, remote, is_operator, _, _, _, notes = arrival
        guard = self._guard
        caller = LOCAL if is_operator and guard.is_direct(headers) else ANONYMOUS
        peer, forwarded = remote or "", ""
        if guard.has_proxies:
            peer, forwarded = guard.peer(headers, remote), guard.forwarded_host(headers, remote)
        if notes is not None:
            notes.update(caller=caller, peer=peer)
        request = Request(method, path, query, headers, body, caller, peer, notes, ANONYMOUS, forwarded)
        answer = self._host.begin(request)
        if not self._config.call_seconds or isinstance(answer, Answer):
            return answer
        return _limited(answer, self._config.call_seconds)


async def _limited(answer: Awaitable[Answer], seconds: float) -> Answer:
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        return TOOK_TOO_LONG


# --- The limit on the total size of large bodies.

LARGE_BODY_BYTES = 64 * 1024
"""Bodies above this size count as large."""
MAX_LARGE_BODIES_BYTES = 512 * 1024 * 1024
"""The maximum total size of the large bodies of all requests and streams. Their parsed values take memory too."""


class LargeBodies:
    """The large bodies of the requests of one server.

    Args:
        max_body_bytes: the largest body.
    """

    def __init__(self, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._sizes: dict[Hashable, int] = {}

    def has_room(self, size: int | None, request: Hashable) -> bool:
        """Count a large body until its request ends.

        Return False if the total would exceed the limit. A body of unknown size counts as the largest body.
        """
        self.forget(request)
        size = self._max_body_bytes if size is None else size
        if size <= LARGE_BODY_BYTES:
            return True
        others = sum(self._sizes.values())
        if others and others + size > MAX_LARGE_BODIES_BYTES:
            return False
        self._sizes[request] = size
        return True

    def forget(self, request: Hashable) -> None:
        """Stop counting the body of a request."""
        self._sizes.pop(request, None)
