"""The calls in flight of one host: how many there are, and that all of them have ended. It runs none."""

from __future__ import annotations

import asyncio
from types import CodeType

from pegboard.runtime.watchdog import Watchdog


class CallCounter:
    """Counts calls. The event loop is watched while there are any.

    Args:
        blocked_loop_seconds: for how long the loop may be blocked before the log names what blocks it; 0 for any time.
        dispatch: the code of the entry of all calls.
    """

    def __init__(self, blocked_loop_seconds: float, dispatch: CodeType) -> None:
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.watchdog = Watchdog(blocked_loop_seconds, lambda: self._count > 0, dispatch)

    def begin(self) -> None:
        """One more."""
        if not self._count:
            self._idle.clear()
            self.watchdog.wake()
        self._count += 1

    def end(self) -> None:
        """One less."""
        self._count -= 1
        if not self._count:
            self._idle.set()

    async def drain(self, grace: float) -> bool:
        """Wait until there are none, `grace` seconds at most; whether there are none."""
        try:
            async with asyncio.timeout(grace):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True
