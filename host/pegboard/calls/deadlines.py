"""Time limits of functions. Calls with the same limit share one timer.

Calls with the same limit expire in the order in which they began, so they form a queue. The timer waits for the first
call of the queue. Calls without a limit have no deadline. Calls that end without waiting have none either.
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
"""The seconds that a function may take to clean up after its time limit. Then the host closes the function."""


class Deadlines:
    """The deadlines of one host."""

    def __init__(self) -> None:
        self._queues: dict[float, _Queue] = {}

    def start(self, limit: float, context: Context) -> Deadline:
        """Start the deadline of the function that the current task runs.

        Args:
            limit: the seconds that the function may run.
            context: the function's context. The deadline is paused while questions to the client are open.
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
    """The deadlines with the same limit, earliest first.

    The timer runs without context variables. The context variables of a call would keep the call's tool in memory.
    """

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
    """The deadline of one running function.

    The function is cancelled at the deadline. It is closed if it still runs `MAX_CLEANUP_SECONDS` later.

    Attributes:
        due: the time of the deadline, on the clock of the event loop.
        cancelled: 0 before the deadline, 1 after the function was cancelled, 2 after it was cancelled again.
        error: the exception that ended the function early, or None if the deadline ended it.
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
        """True if the time to clean up is over."""
        return self.cancelled > 1

    def pause(self) -> None:
        if not self.cancelled:
            self._left = self.due - self._queue.loop.time()
            self._forget()

    def resume(self) -> None:
        if not self.cancelled:
            self.due = self._queue.loop.time() + self._left
            self._handle = self._queue.loop.call_later(self._left, self.expire)

    def stop(self) -> bool:
        """Remove the deadline when its function has ended. Return True if only the deadline cancelled the function."""
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
        """Cancel the function at its deadline."""
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
    """Run a waiting coroutine until it returns or its time to clean up is over.

    The coroutine stays in the task that started it, so that timeouts and task groups inside the coroutine work.

    Args:
        function: the coroutine.
        waits_for: the awaitable that the coroutine waits for.
        clock: the deadline of the coroutine.

    Raises:
        asyncio.CancelledError: the coroutine ignored its cancellation and was closed.
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


@coroutine
def begun(function: Coroutine[Any, Any, Any], clock: Deadline) -> Generator[Any, Any, Any]:
    """Run a coroutine from its start, as `driven` does. It may return without waiting."""
    try:
        waits_for = function.send(None)
    except StopIteration as end:
        return end.value
    return (yield from driven(function, waits_for, clock))


def _close(function: Coroutine[Any, Any, Any]) -> None:
    """Close a coroutine. A coroutine that refuses to close is abandoned."""
    with suppress(BaseException):
        function.close()
