"""The private attributes of aiohttp that the server uses. No other module uses private attributes.

`pyproject.toml` allows the minor versions of aiohttp that the tests run. If an attribute is missing in another version,
the server runs without the limit that depends on it, or handles every request in a task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from aiohttp.http import HttpRequestParser
from aiohttp.web_protocol import RequestHandler

REQUEST_COUNT = "_request_count"
"""The number of requests that the parser has read on a connection."""
MESSAGES = "_messages"
"""The parsed requests that wait for a handler, each with its body."""
WAITER = "_waiter"
"""The future on which an idle connection waits for its next request."""
READING_PAUSED = "_reading_paused"
PARSER = "_parser"
"""The parser of a connection. It counts the requests that wait for a handler, since aiohttp 3.14.1."""
CONSUMED = "message_consumed"
"""The method that tells the parser that a request no longer waits."""
KEEPALIVE = "_keepalive"
"""True if the connection stays open after the last response, until it is idle for long."""
IDLE_UNTIL = "_next_keepalive_close_time"
"""The time at which an idle connection is closed, on the event loop's clock."""
IDLE_TIMER = "_keepalive_handle"
CHECK_IDLE = "_process_keepalive"
"""The method that `IDLE_TIMER` calls. It closes a connection that is idle, or sets the timer again."""
CLOSES = "_close"
"""True if the connection closes after the requests that were read."""


def request_count(connection: object) -> int | None:
    """Return the number of requests read on a connection.

    Return None if the number or the waiting requests are unknown. Request headers have no limits then.
    """
    count: int | None = getattr(connection, REQUEST_COUNT, None)
    return count if hasattr(connection, MESSAGES) else None


def queued_requests(connection: object) -> Sequence[tuple[Any, Any]]:
    """Return the requests that wait for a handler, as pairs of head and body. Return () if they are unknown."""
    messages: Sequence[tuple[Any, Any]] = getattr(connection, MESSAGES, ())
    return messages


def is_idle(connection: object) -> bool:
    """Return True if a connection waits for a request. Return False if unknown: the connection stays open."""
    waiter = getattr(connection, WAITER, None)
    return waiter is not None and not waiter.done() and not queued_requests(connection)


def can_answer_itself() -> bool:
    """Return True if aiohttp has all attributes that the functions below use."""
    names = (REQUEST_COUNT, MESSAGES, WAITER, PARSER, KEEPALIVE, IDLE_UNTIL, IDLE_TIMER, CHECK_IDLE, CLOSES)
    return all(hasattr(RequestHandler, name) for name in names) and hasattr(HttpRequestParser, CONSUMED)


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


def closes_after_requests(connection: RequestHandler) -> bool:
    """Return True if a connection was told to close after the requests that were read."""
    closes: bool = connection._close
    return closes


def remove_request(connection: RequestHandler, loop: asyncio.AbstractEventLoop) -> None:
    """Remove the first waiting request after its response, and start the idle time of the connection."""
    connection._messages.popleft()
    if connection._parser is not None:  # the peer is not gone
        connection._parser.message_consumed()
    connection._keepalive = True
    connection._next_keepalive_close_time = idle_until = loop.time() + connection.keepalive_timeout
    if connection._keepalive_handle is None:
        connection._keepalive_handle = loop.call_at(idle_until, connection._process_keepalive)


def is_reading_paused(connection: object) -> bool:
    """Return True if reading is paused or its state is unknown."""
    return bool(getattr(connection, READING_PAUSED, True))
