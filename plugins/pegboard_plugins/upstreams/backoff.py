"""The delays between attempts to connect."""

from __future__ import annotations

import random

FIRST_DELAY_SECONDS = 0.1
"""The longest first delay."""
MAX_RETRY_SECONDS = 60.0


class Backoff:
    """Delays that double with every attempt, each shortened by a random part so that hosts do not retry together."""

    def __init__(self) -> None:
        self._attempts = 0

    def next_delay(self) -> float:
        """Return the seconds to wait before the next attempt."""
        longest = min(MAX_RETRY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** min(self._attempts, 32))
        self._attempts += 1
        return longest * random.uniform(0.5, 1)  # noqa: S311 - not a secret

    def reset(self) -> None:
        """Begin again with the first delay."""
        self._attempts = 0
