"""The private attributes of aiohttp that the server uses. No other module uses private attributes.

The server asks `has_internals` once. If an attribute is missing in the installed version, the server calls no other
function of this module, and aiohttp handles every request in a task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from aiohttp import StreamReader
from aiohttp.http import HttpRequestParser
from aiohttp.web import BaseRequest
from aiohttp.web_protocol import RequestHandler

USED: dict[type[Any], Sequence[str]] = {
    RequestHandler: (
        "_messages",  # the parsed requests that wait for a handler, each with its body
        "_waiter",  # the future on which an idle connection waits for its next request
        "_reading_paused",
        "_upgraded",  # True from a request to change the protocol until its response; bytes behind it are not parsed
        "_parser",  # the parser of the connection, which counts the requests that wait for a handler
        "_keepalive",  # True if the connection stays open after the last response, until it is idle for long
        "_keepalive_timeout",
        "_keepalive_handle",  # the timer of the idle time
        "_next_keepalive_close_time",  # the time at which an idle connection is closed, on the event loop's clock
        "_process_keepalive",  # what the timer calls: it closes an idle connection, or sets the timer again
    ),
    HttpRequestParser: ("message_consumed",),  # tells the parser that a request no longer waits
    StreamReader: ("_buffer",),  # the parts of a body that have arrived and have not been read
}
"""The attributes that the functions below use, by their classes."""


class PausingConnection(RequestHandler):
    """A connection that reports when it stops reading."""

    __slots__ = ()

    def _pause_transport_reading(self) -> None:
        super()._pause_transport_reading()
        self.reading_paused()

    def pause_reading(self) -> None:
        """Pause reading. Versions of aiohttp without `_pause_transport_reading` pause in no other way."""
        super().pause_reading()
        self.reading_paused()

    def reading_paused(self) -> None:
        """Do nothing. aiohttp has stopped reading because enough requests, or enough of a body, have arrived."""


def has_internals() -> bool:
    """Return True if aiohttp has all attributes that the functions below use."""
    return all(hasattr(owner, name) for owner, names in USED.items() for name in names)


def waiting_requests(connection: RequestHandler) -> Sequence[tuple[Any, Any]]:
    """Return the growing list of requests that wait for a handler, as pairs of head and body."""
    return connection._messages


def is_idle(connection: RequestHandler) -> bool:
    """Return True if a connection waits for a request."""
    waiter = connection._waiter
    return waiter is not None and not waiter.done() and not connection._messages


def take_waiter(connection: RequestHandler) -> asyncio.Future[None] | None:
    """Return the future on which an idle connection waits, and remove it. Return None if the connection is not idle.

    Until `put_waiter` puts it back, an arriving request does not wake the task of the connection.
    """
    waiter = connection._waiter
    if waiter is None or waiter.done() or connection._messages:
        return None
    connection._waiter = None
    return waiter


def put_waiter(connection: RequestHandler, waiter: asyncio.Future[None]) -> None:
    """Put the future of an idle connection back."""
    connection._waiter = waiter


def take_body(content: StreamReader) -> bytes | None:
    """Return a body that has arrived, and remove it from its reader. Return None if it is incomplete or invalid."""
    if not content.is_eof() or content.exception() is not None:
        return None
    if type(content) is StreamReader and len(content._buffer) == 1:
        return content._buffer.popleft()  # the common case: nobody uses the reader any more
    return content.read_nowait()


def remove_request(connection: RequestHandler, loop: asyncio.AbstractEventLoop) -> None:
    """Remove the first waiting request after its response, and start the idle time of the connection."""
    connection._messages.popleft()
    if connection._parser is not None:  # the peer is not gone
        connection._parser.message_consumed()
    connection._keepalive = True
    connection._next_keepalive_close_time = idle_until = loop.time() + connection._keepalive_timeout
    if connection._keepalive_handle is None:
        connection._keepalive_handle = loop.call_at(idle_until, connection._process_keepalive)


def forget_facts(request: BaseRequest) -> None:
    """Drop the values that a request has cached. It computes them again when they are needed."""
    facts: dict[str, object] | None = getattr(request, "_cache", None)  # it only saves memory
    if facts is not None:
        facts.clear()


def is_reading_paused(connection: RequestHandler) -> bool:
    """Return True if reading is paused."""
    paused: bool = connection._reading_paused
    return paused


def is_upgrading(connection: RequestHandler) -> bool:
    """Return True if a request to change the protocol is not answered."""
    upgrading: bool = connection._upgraded
    return upgrading
