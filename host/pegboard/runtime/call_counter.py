"""A counter of the calls in flight of one host."""

from __future__ import annotations

import asyncio
from types import CodeType

from pegboard.runtime.watchdog import Watchdog


class CallCounter:
    """Counts calls in flight. The watchdog observes the event loop while the count is not zero.

    Args:
        blocked_loop_seconds: the time in seconds after which code that blocks the loop is logged; 0 for never.
    """

    def __init__(self, blocked_loop_seconds: float, dispatch: CodeType) -> None:
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.watchdog = Watchdog(blocked_loop_seconds, lambda: self._count > 0, dispatch)

    def begin(self) -> None:
        """Increment the count when a call begins."""
        if not self._count:
            self._idle.clear()
            self.watchdog.wake()
        self._count += 1

    def end(self) -> None:
        """Decrement the count when a call ends."""
        self._count -= 1
        if not self._count:
            self._idle.set()

    async def drain(self, grace: float) -> bool:
        """Wait up to `grace` seconds until no call is in flight. Return False if calls are still in flight."""
        try:
            async with asyncio.timeout(grace):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True
