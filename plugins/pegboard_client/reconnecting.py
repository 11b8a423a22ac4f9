"""Delays before reconnects."""

from __future__ import annotations

import random

MAX_RECONNECT_SECONDS = 30.0
_FIRST_SECONDS = 0.25
MAX_UNREACHED = 3
"""A server over HTTP counts as lost after so many attempts in a row, for one stream, that do not reach it."""


def reconnect_delay(failures: int) -> float:
    """Return the seconds to wait after a number of failures in a row. The delay doubles, with a random part."""
    delay = min(_FIRST_SECONDS * 2.0 ** min(failures, 10), MAX_RECONNECT_SECONDS)
    return delay * random.uniform(0.5, 1.0)  # noqa: S311 - no secret depends on it
