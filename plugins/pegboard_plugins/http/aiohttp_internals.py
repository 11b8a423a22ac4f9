"""The private attributes of aiohttp that the server reads. No other module reads private attributes.

`pyproject.toml` allows the minor versions of aiohttp that the tests run. If an attribute is missing in a later version,
the server runs without the limit that depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

REQUEST_COUNT = "_request_count"
"""The number of requests that the parser has read on a connection."""
MESSAGES = "_messages"
"""The parsed requests that wait for a handler, each with its body."""
WAITER = "_waiter"
"""The future on which an idle connection waits for its next request."""
READING_PAUSED = "_reading_paused"


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


def is_reading_paused(connection: object) -> bool:
    """Return True if reading is paused or its state is unknown."""
    return bool(getattr(connection, READING_PAUSED, True))
