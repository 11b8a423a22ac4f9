"""Running middleware and its time limits, which are checked at intervals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextvars import Context as Variables
from typing import TYPE_CHECKING, Any

from pegboard.calls.deadlines import MAX_CLEANUP_SECONDS
from pegboard.types.calls import Call, CallNext, Failure, Outcome, RawResult, ToolResult

if TYPE_CHECKING:
    from pegboard.calls.served_item import ServedItem

MIDDLEWARE_CHECK_SECONDS = 0.5
"""The interval between two examinations."""

logger = logging.getLogger("pegboard")


class MiddlewareFault(Exception):
    """A middleware broke a rule or raised an untyped exception. The error is masked.

    Args:
        developer_message: the name of the middleware, and its fault.
    """

    def __init__(self, developer_message: str) -> None:
        super().__init__(developer_message)
        self.developer_message = developer_message


class RunningLink:
    """A middleware method that runs in one call.

    Args:
        blame: the name of the middleware, for the log.
        call_next: the rest of the chain.
        call: the call.

    Attributes:
        given: the last outcome of `call_next`, or None before the first.
        raised: the last exception of `call_next`.
        inside: True while the middleware waits for `call_next`. That time does not count for the middleware.
    """

    __slots__ = ("_call_next", "blame", "call", "given", "inside", "raised")

    def __init__(self, blame: str, call_next: CallNext, call: Call) -> None:
        self.blame = blame
        self.call = call
        self._call_next = call_next
        self.inside = False
        self.given: Outcome | None = None
        self.raised: BaseException | None = None

    async def call_next(self, call: Call) -> Outcome:
        """Run the rest of the chain."""
        if self.given is not None:
            self._refuse_again()
        if type(call) is not Call:
            raise MiddlewareFault(f"{self.blame} called call_next with {type(call).__name__}: pass a Call")
        self.inside = True
        try:
            outcome = await self._call_next(call)
        except BaseException as error:
            self.raised = error
            self.inside = False
            raise
        self.inside = False
        if self.given is not None:
            self._refuse_again()  # it was called several times at once
        self.given = outcome
        return outcome

    def _refuse_again(self) -> None:
        if not _failed(self.given):
            raise MiddlewareFault(f"{self.blame} called call_next again after a success: repeat only calls that failed")


def _failed(outcome: Outcome | None) -> bool:
    return isinstance(outcome, Failure) or (isinstance(outcome, ToolResult | RawResult) and outcome.is_error)


class MiddlewareTime:
    """The time that the middleware of one host takes.

    Attributes:
        running: the middleware methods that run, each with its task. Outside any task, a middleware has no time limit.
        loop: the event loop of the checks, or None before the first.
        timer: the timer for the next check, or None while no middleware runs.
        tools: the served tools, whose limits apply to their calls.
        cuts: the number of times that each middleware was cancelled at its limit.

    Args:
        limit: returns the time limit of all other calls in seconds; 0 for no limit.
    """

    def __init__(self, limit: Callable[[], float]) -> None:
        self.running: dict[RunningLink, asyncio.Task[Any] | None] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.tools: Mapping[str, ServedItem] = {}
        self.cuts: dict[RunningLink, int] = {}
        self._limit = limit
        self._spent: dict[RunningLink, float] = {}
        self._looked = 0.0

    def wake(self) -> None:
        """Check the running middleware at intervals, until no middleware runs."""
        self.loop = loop = asyncio.get_running_loop()
        self._looked = loop.time()
        self.timer = loop.call_later(MIDDLEWARE_CHECK_SECONDS, self._look, loop, context=Variables())

    def close(self) -> None:
        """Stop the checks, and forget the middleware that still runs."""
        self.running.clear()
        self._spent.clear()
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def settle(self, link: RunningLink) -> bool:
        """Undo the cancellations of a middleware. Return False if its call was also cancelled for another reason."""
        task = asyncio.current_task()
        left = 0
        for _ in range(self.cuts.pop(link, 0)):
            left = task.uncancel() if task is not None else 0
        return left == 0

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        since, self._looked, self.timer = now - self._looked, now, None
        # a middleware that is seen for the first time may have begun just now
        self._spent = {
            link: self._spent[link] + since if link in self._spent else 0.0 for link in self.running if not link.inside
        }
        for link, spent in self._spent.items():
            limit = self._limit_of(link.call)
            task = self.running[link]
            if limit and task is not None and spent > limit + self.cuts.get(link, 0) * MAX_CLEANUP_SECONDS:
                self._cut(link, task, limit)
        if self.running:
            self.timer = loop.call_later(MIDDLEWARE_CHECK_SECONDS, self._look, loop, context=Variables())

    def _limit_of(self, call: Call) -> float:
        tool = self.tools.get(str(call.params.get("name"))) if call.method == "tools/call" else None
        return self._limit() if tool is None else tool.timeout

    def _cut(self, link: RunningLink, task: asyncio.Task[Any], limit: float) -> None:
        count = self.cuts[link] = self.cuts.get(link, 0) + 1
        if count == 1:
            call = link.call
            name = str(call.params.get("name") or call.params.get("uri") or "")[:200]
            logger.warning("%s took longer than %g s for %s %r and was cancelled", link.blame, limit, call.method, name)
        task.cancel()
