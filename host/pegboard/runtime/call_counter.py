"""A counter of the calls in flight of one host."""

from __future__ import annotations

import asyncio
from types import CodeType

from pegboard.runtime.watchdog import Watchdog


class CallCounter:
    """Counts calls in flight. The watchdog observes the event loop while the count is not zero.

    Args:
        blocked_loop_seconds: the time in seconds after which code that blocks the loop is logged; 0 for never.

    Attributes:
        grace_end: the time on the event loop's clock at which the last `drain` gives up.
    """

    def __init__(self, blocked_loop_seconds: float, dispatch: CodeType) -> None:
        self._count = 0
        self._epoch = 0
        self._earlier: dict[int, int] = {}
        self._waiting: dict[int, asyncio.Event] = {}
        self._drained: asyncio.Event | None = None
        self.grace_end = 0.0
        self.watchdog = Watchdog(blocked_loop_seconds, lambda: self._count > 0, dispatch)

    @property
    def count(self) -> int:
        """The number of calls in flight."""
        return self._count

    def begin(self) -> int:
        """Increment the count when a call begins. Return the epoch, for `end`."""
        if not self._count:
            self.watchdog.wake()
        self._count += 1
        return self._epoch

    def end(self, epoch: int) -> None:
        """Decrement the count when a call ends that began in an epoch."""
        self._count -= 1
        if epoch != self._epoch:
            self._end_earlier(epoch)
        if not self._count and self._drained is not None:
            self._drained.set()
            self._drained = None

    def begin_epoch(self) -> asyncio.Event:
        """Begin a new epoch. Return an event that is set when all calls of earlier epochs have ended."""
        self._earlier[self._epoch] = self._count - sum(self._earlier.values())
        ended = self._waiting[self._epoch] = asyncio.Event()
        self._epoch += 1
        self._notify()
        return ended

    def _end_earlier(self, epoch: int) -> None:
        self._earlier[epoch] -= 1
        if not self._earlier[epoch]:
            self._notify()

    def _notify(self) -> None:
        self._earlier = {epoch: count for epoch, count in self._earlier.items() if count}
        oldest = min(self._earlier, default=self._epoch)
        for epoch in [epoch for epoch in self._waiting if epoch < oldest]:
            self._waiting.pop(epoch).set()

    async def drain(self, grace: float) -> bool:
        """Wait up to `grace` seconds until no call is in flight. Return False if calls are still in flight."""
        self.grace_end = asyncio.get_running_loop().time() + grace
        if not self._count:
            return True
        self._drained = self._drained or asyncio.Event()
        try:
            # In a task that was cancelled before, `asyncio.timeout` raises no TimeoutError before Python 3.11.3.
            await asyncio.wait_for(self._drained.wait(), grace)
        except TimeoutError:
            return False
        return True
