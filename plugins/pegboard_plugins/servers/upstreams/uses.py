"""The uses of a connection, and the time without any."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic


class Uses:
    """Counts uses. A use is a block: `with uses`.

    Args:
        idle_seconds: the time without uses after which `idle` is called; 0 for never.
        idle: called at the end of the time. The time begins again with the next use.

    Attributes:
        count: the number of uses.
    """

    def __init__(self, idle_seconds: float = 0.0, idle: Callable[[], None] = lambda: None) -> None:
        self.count = 0
        self._seconds = idle_seconds
        self._idle = idle
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._ended = asyncio.Event()

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *error: object) -> None:
        self.count -= 1
        self._ended.set()
        if self._seconds:
            self.begin()

    async def end(self) -> None:
        """Wait until there is no use."""
        while self.count:
            self._ended.clear()
            await self._ended.wait()

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
        if self.count:
            return  # the end of the last use begins the time again
        if left > 0:
            self._watch(left)
        else:
            self._idle()
