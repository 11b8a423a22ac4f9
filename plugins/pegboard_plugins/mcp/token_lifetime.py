"""The time that a long-lived stream may stay open: no longer than the caller's token is valid."""

from __future__ import annotations

from time import time

from pegboard.types import Caller

MIN_LIFETIME_SECONDS = 60.0
"""The shortest time. It keeps clients with a token near its end, or a wrong clock, from reconnecting in a loop."""


def seconds_left(caller: Caller) -> float | None:
    """Return how long the caller's token is valid, None for a token without expiry."""
    return None if caller.expires_at is None else max(caller.expires_at - time(), MIN_LIFETIME_SECONDS)
