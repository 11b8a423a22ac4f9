"""The time that a connection is not used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic


class IdleTime:
    """Calls a function after a time without use. A use is a block: `with idle_time`.

    Args:
        seconds: the time; 0 for never.
        ended: called at the end of the time. The time begins again with the next use.
    """

    def __init__(self, seconds: float, ended: Callable[[], None]) -> None:
        self._seconds = seconds
        self._ended = ended
        self._uses = 0
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        self._uses += 1

    def __exit__(self, *error: object) -> None:
        self._uses -= 1
        if self._seconds:
            self.begin()

    def begin(self) -> None:
        """Begin the time again."""
        self._since = monotonic()
        if self._seconds and self._timer is None:
            self._watch(self._seconds)

    def close(self) -> None:
        self._seconds = 0.0
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._check)

    def _check(self) -> None:
        self._timer = None
        left = self._since + self._seconds - monotonic()
        if self._uses:
            return  # the end of the last use begins the time again
        if left > 0:
            self._watch(left)
        else:
            self._ended()
