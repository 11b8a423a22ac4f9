"""The time limit of a long-lived stream: the remaining validity of the caller's token."""

from __future__ import annotations

from time import time

from pegboard.types import Caller

MIN_LIFETIME_SECONDS = 60.0
"""The minimum time. Without it, clients with an expiring token or a wrong clock would reconnect in a loop."""


def seconds_left(caller: Caller) -> float | None:
    """Return the remaining validity of the caller's token in seconds, or None for a token without expiry."""
    return None if caller.expires_at is None else max(caller.expires_at - time(), MIN_LIFETIME_SECONDS)
