"""For how long a stream that has no end of its own may go on: no longer than the token it was asked for with."""

from __future__ import annotations

from time import time

from pegboard.types import Caller

MIN_LIFETIME_SECONDS = 60.0
"""For how long it goes on at least, that a token at its end, by somebody's clock, is no reason to ask in circles."""


def seconds_left(caller: Caller) -> float | None:
    """How long the caller's token is good, None for one without an end."""
    return None if caller.expires_at is None else max(caller.expires_at - time(), MIN_LIFETIME_SECONDS)
