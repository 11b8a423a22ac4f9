"""How long functions may run: one timer for each limit that a host has, whatever number of calls runs under it.

Calls under one limit end in the order in which they began, so they stand in a queue; only its first is waited for. A
call that has no limit, or ends without waiting for anything, has no clock.
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
"""How long a function may take to clean up once its time is over; then it is ended where it stands."""


class Deadlines:
    """The clocks of one host."""

    def __init__(self) -> None:
        self._queues: dict[float, _Queue] = {}

    def start(self, limit: float, context: Context) -> Deadline:
        """Start the clock of the function that the current task runs.

        Args:
            limit: for how many seconds it may run.
            context: its context; what it has asked its client already stops the clock.
        """
        queue = self._queues.get(limit)
        if queue is None:
            queue = self._queues[limit] = _Queue(limit, asyncio.get_running_loop())
        task = asyncio.current_task()
        assert task is not None
        return Deadline(queue, context, task)

    def close(self) -> None:
        """Forget all clocks."""
        for queue in self._queues.values():
            queue.close()
        self._queues.clear()


class _Queue:
    """The clocks that run under one limit, in the order of their ends.

    Its timer has variables of its own: with those of the call that set it, it would keep that call's tool alive.
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
    """How long one function may still run. At the end it is cancelled, and a while later given up.

    Attributes:
        due: when its time is over, as the event loop's clock has it.
        cancelled: how many times it was cancelled: once when its time was over, and again when it did not end then.
        error: the exception that ended it early, None for the end of its time.
    """

    # in the class, as most clocks change none of them
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
        """Whether the time to clean up is over, too."""
        return self.cancelled > 1

    def pause(self) -> None:
        """Let the time stand still."""
        if not self.cancelled:
            self._left = self.due - self._queue.loop.time()
            self._forget()

    def resume(self) -> None:
        """Let the time run on."""
        if not self.cancelled:
            self.due = self._queue.loop.time() + self._left
            self._handle = self._queue.loop.call_later(self._left, self.expire)

    def stop(self) -> bool:
        """The function has ended; whether its time had been over, and it is not cancelled for other reasons, too."""
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
        """Tell the function that its time is over."""
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
    """Go on with a function that waits for something, and not beyond the end of its time to clean up.

    It goes on in the task that it began in, so that timeouts and task groups inside it find what they know.

    Args:
        function: the coroutine.
        waits_for: what it waits for.
        clock: its time.

    Raises:
        asyncio.CancelledError: it did not end when it was cancelled, and has been closed.
        BaseException: what it raised.
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
    """End a coroutine where it stands. One that refuses even that is left there, and never goes on."""
    with suppress(BaseException):
        function.close()
