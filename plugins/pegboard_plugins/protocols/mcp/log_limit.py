"""The rate limit of log messages to one client."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic


class LogLimit:
    """Admits a number of messages per second, and as many at once. Messages beyond it are dropped.

    Args:
        per_second: the number of messages.
        clock: returns the time in seconds.
    """

    __slots__ = ("_burst", "_clock", "_interval", "_left_out", "_lock", "_sent_until")

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._interval = 1 / per_second
        self._burst = max(1.0, per_second) * self._interval
        self._clock = clock
        self._lock = Lock()
        self._sent_until = 0.0
        self._left_out = 0

    def admit(self) -> int | None:
        """Return the number of messages dropped before this message; None if it is dropped. Any thread may call."""
        with self._lock:
            now = self._clock()
            until = max(self._sent_until, now) + self._interval
            if until > now + self._burst:
                self._left_out += 1
                return None
            self._sent_until = until
            left_out, self._left_out = self._left_out, 0
            return left_out
