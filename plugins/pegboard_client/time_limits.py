"""The time limits of the requests of one connection, which share one timer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import Context
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard_client.in_flight import InFlight


class TimeLimits:
    """The timer of one connection. It wakes at the earliest end of a request, or earlier.

    Args:
        in_flight: the requests that wait for a response.
    """

    def __init__(self, in_flight: Mapping[int, InFlight]) -> None:
        self._in_flight = in_flight
        self._wakes = inf
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, due: float) -> None:
        """Wake at a time on the clock of the event loop, unless the timer wakes earlier."""
        if due >= self._wakes:
            return
        self.close()
        self._wakes = due
        # without the variables of the request, which would stay in memory
        self._timer = asyncio.get_running_loop().call_at(due, self._expire, context=Context())

    def close(self) -> None:
        """Stop the timer."""
        self._wakes = inf
        if self._timer is not None:
            self._timer.cancel()

    def _expire(self) -> None:
        """End the requests that are due, and wake again for the next request."""
        self._wakes = inf
        now = asyncio.get_running_loop().time()
        later = inf
        for flight in self._in_flight.values():
            if flight.due <= now:
                flight.expire()
            else:
                later = min(later, flight.due)
        self.watch(later)
