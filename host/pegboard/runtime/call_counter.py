"""A counter of the calls in flight of one host."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

from pegboard.calls.failures import name_of
from pegboard.runtime.watchdog import Watchdog
from pegboard.types.calls import Call

logger = logging.getLogger("pegboard")

_MAX_NAMES = 10
"""The number of names of cut calls that are logged."""
_RESOLUTION_SECONDS = 0.001
"""How early the timer of the event loop may fire."""


class CallCounter:
    """Counts calls in flight. The watchdog observes the event loop while the count is not zero.

    Args:
        blocked_loop_seconds: the time in seconds after which code that blocks the loop is logged; 0 for never.
        dispatch: the function that handles all calls. Its variable `call` is the call.

    Attributes:
        count: the number of calls in flight.
        grace_end: the time on the event loop's clock at which the last `drain` gives up; 0 before it.
    """

    def __init__(self, blocked_loop_seconds: float, dispatch: Callable[..., Any]) -> None:
        self.count = 0
        self._epoch = 0
        self._in_epoch: Counter[int] = Counter()
        self._waiting: dict[int, asyncio.Event] = {}
        self._stopping = asyncio.Event()
        self._cut: Counter[str] = Counter()
        self.grace_end = 0.0
        self.watchdog = Watchdog(blocked_loop_seconds, lambda: self.count > 0, dispatch)

    def open(self) -> None:
        """Reset the counter at the start of the host."""
        self._stopping.clear()
        self.grace_end = 0.0

    def begin(self) -> int:
        """Increment the count when a call begins. Return the epoch, for `end`."""
        if not self.count:
            self.watchdog.wake()
        self.count += 1
        self._in_epoch[self._epoch] += 1
        return self._epoch

    def end(self, epoch: int) -> None:
        """Decrement the count when a call ends that began in an epoch."""
        self.count -= 1
        self._in_epoch[epoch] -= 1
        if epoch != self._epoch:
            self._notify()

    def begin_epoch(self) -> asyncio.Event:
        """Begin a new epoch. Return an event that is set when all calls of earlier epochs have ended."""
        ended = self._waiting[self._epoch] = asyncio.Event()
        self._epoch += 1
        self._notify()
        return ended

    def _notify(self) -> None:
        self._in_epoch = +self._in_epoch  # without the epochs of no call
        oldest = min(self._in_epoch, default=self._epoch)
        for epoch in [epoch for epoch in self._waiting if epoch < oldest]:
            self._waiting.pop(epoch).set()

    async def drain(self, grace: float) -> bool:
        """Wait up to `grace` seconds until no call is in flight. Return False if calls are still in flight."""
        self.grace_end = asyncio.get_running_loop().time() + grace
        self._stopping.set()
        if not self.count:
            return True
        try:
            # In a task that was cancelled before, `asyncio.timeout` raises no TimeoutError before Python 3.11.3.
            await asyncio.wait_for(self._all_ended(), grace)
        except TimeoutError:
            return False
        return True

    async def _all_ended(self) -> None:
        while self.count:
            await self.begin_epoch().wait()

    async def wait_stopping(self) -> float:
        """Wait until the host is about to stop. Return the end of the grace period."""
        await self._stopping.wait()
        return self.grace_end

    def end_waits(self) -> None:
        """Wake all tasks that wait until the host is about to stop."""
        self._stopping.set()

    @property
    def _is_over(self) -> bool:
        """True if the grace period is over."""
        return 0 < self.grace_end <= asyncio.get_running_loop().time() + _RESOLUTION_SECONDS

    def note_cancelled(self, call: Call) -> None:
        """Record the name of a cancelled call if the grace period is over, because the stop then cancelled it."""
        if self._is_over:
            self._cut[name_of(call) or call.method] += 1

    def close(self) -> None:
        """Stop the watchdog, and log the calls that were cut. Those that ignore their cancellation are only counted."""
        self.watchdog.close()
        if self._is_over and (number := self._cut.total() + self.count):
            names = [f"{name} ({count})" if count > 1 else name for name, count in sorted(self._cut.items())]
            shown = ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
            counted = "1 call was" if number == 1 else f"{number} calls were"
            text = "%s cancelled at the end of the grace period ([host] grace_seconds; 1 s over stdio): %s"
            logger.warning(text, counted, shown or "they go on")
        self._cut.clear()
