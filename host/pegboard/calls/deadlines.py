"""Time limits of functions. Calls with the same limit share one timer.

Calls under one limit end in the order in which they began, so they form a queue. The timer waits for the first of them.
A call without a limit, or one that ends without waiting, has no deadline.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Generator
from contextlib import suppress
from types import coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.context import Context

MAX_CLEANUP_SECONDS = 2.0
"""The seconds that a function may take to clean up after its time limit. After that it is closed."""


class Deadlines:
    """The deadlines of one host."""

    def __init__(self) -> None:
        self._queues: dict[float, _Queue] = {}

    def start(self, limit: float, context: Context) -> Deadline:
        """Start the deadline of the function that the current task runs.

        Args:
            limit: the seconds that the function may run.
            context: the function's context. Open questions to the client pause the clock.
        """
        queue = self._queues.get(limit)
        if queue is None:
            queue = self._queues[limit] = _Queue(limit, asyncio.get_running_loop())
        task = asyncio.current_task()
        assert task is not None
        return Deadline(queue, context, task)

    def close(self) -> None:
        """Remove all deadlines."""
        for queue in self._queues.values():
            queue.close()
        self._queues.clear()


class _Queue:
    """The deadlines under one limit, in the order of their ends.

    The timer has an empty set of context variables. With the variables of a call it would keep the call's tool alive.
    """

    __slots__ = ("clocks", "handle", "limit", "loop")

    def __init__(self, limit: float, loop: asyncio.AbstractEventLoop) -> None:
        self.limit = limit
        self.loop = loop
        self.clocks: dict[Deadline, None] = {}
        self.handle: asyncio.TimerHandle | None = None

    def add(self, clock: Deadline) -> None:
        self.clocks[clock] = None
        if self.handle is None:
            self.handle = self.loop.call_at(clock.due, self._end, context=contextvars.Context())

    def _end(self) -> None:
        self.handle = None
        now = self.loop.time()
        while self.clocks:
            first = next(iter(self.clocks))
            if first.due > now:
                self.handle = self.loop.call_at(first.due, self._end, context=contextvars.Context())
                break
            del self.clocks[first]
            first.expire()

    def close(self) -> None:
        self.clocks.clear()
        if self.handle is not None:
            self.handle.cancel()


class Deadline:
    """The time limit of one running function. The function is cancelled at its end, and closed a while later.

    Attributes:
        due: the end, in the time of the event loop.
        cancelled: how many times the function was cancelled: once at its limit, twice if it did not end then.
        error: the exception that ended the function early, None for the end of its time.
    """

    # class attributes, since most deadlines never change them
    cancelled = 0
    error: BaseException | None = None
    _left = 0.0
    _handle: asyncio.TimerHandle | None = None

    def __init__(self, queue: _Queue, context: Context, task: asyncio.Task[Any]) -> None:
        self._queue = queue
        self._context = context
        self._task = task
        self.due = queue.loop.time() + queue.limit
        context.clock = self
        if context.waits_for_client:
            self._left = queue.limit
        else:
            queue.add(self)

    @property
    def over(self) -> bool:
        """True if the time to clean up is over, too."""
        return self.cancelled > 1

    def pause(self) -> None:
        """Stop the clock."""
        if not self.cancelled:
            self._left = self.due - self._queue.loop.time()
            self._forget()

    def resume(self) -> None:
        """Start the clock again."""
        if not self.cancelled:
            self.due = self._queue.loop.time() + self._left
            self._handle = self._queue.loop.call_later(self._left, self.expire)

    def stop(self) -> bool:
        """End the deadline after its function. Return True if its time was over and nothing else cancelled it."""
        self._context.clock = None
        if self._handle is None:
            self._queue.clocks.pop(self, None)
            return False
        self._forget()
        left = 1
        for _ in range(self.cancelled):
            left = self._task.uncancel()
        return left == 0

    def expire(self) -> None:
        """Cancel the function because its time is over."""
        self._context.cancelled = True
        self._handle = self._queue.loop.call_later(MAX_CLEANUP_SECONDS, self._cancel)
        self._cancel()

    def fail(self, error: BaseException) -> None:
        """End the function with an exception that was raised outside of its task."""
        if not self.cancelled:
            self._forget()
            self.error = error
            self.expire()

    def _cancel(self) -> None:
        self.cancelled += 1
        self._task.cancel()

    def _forget(self) -> None:
        self._queue.clocks.pop(self, None)
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


@coroutine
def driven(function: Coroutine[Any, Any, Any], waits_for: Any, clock: Deadline) -> Generator[Any, Any, Any]:
    """Run a waiting coroutine to its end, but not beyond its time to clean up.

    The coroutine stays in the task that it began in, so that timeouts and task groups inside it work.

    Args:
        function: the coroutine.
        waits_for: the awaitable that the coroutine waits for.
        clock: its deadline.

    Raises:
        asyncio.CancelledError: the coroutine did not end when it was cancelled, and was closed.
        BaseException: the exception of the coroutine.
    """
    while True:
        try:
            try:
                sent = yield waits_for
            except GeneratorExit:
                function.close()
                raise
            except BaseException as error:
                if clock.over:
                    _close(function)
                    raise
                waits_for = function.throw(error)
            else:
                waits_for = function.send(sent)
        except StopIteration as end:
            return end.value


def _close(function: Coroutine[Any, Any, Any]) -> None:
    """Close a coroutine. A coroutine that refuses to close is abandoned."""
    with suppress(BaseException):
        function.close()
