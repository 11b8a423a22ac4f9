"""Time limits of middleware. All tasks are examined at intervals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextvars import Context as Variables
from types import CodeType
from typing import TYPE_CHECKING, Any

from pegboard.calls.deadlines import MAX_CLEANUP_SECONDS
from pegboard.errors import ToolTimeoutError
from pegboard.records import NamedTuple
from pegboard.types.calls import Call

if TYPE_CHECKING:
    from pegboard.calls.execute import BoundTool

MIDDLEWARE_CHECK_SECONDS = 0.5
"""The interval between two examinations."""
MANY_TASKS = 500
"""The number of tasks above which examinations happen a tenth as often."""

logger = logging.getLogger("pegboard")


class Stage(NamedTuple):
    """A middleware that runs in one call.

    Attributes:
        key: the `call_next` of the middleware, with an attribute `inside`.
        blame: the name of the middleware, for the log.
        call: the call.
        task: the task of the call.
    """

    key: Any
    blame: str
    call: Call
    task: asyncio.Task[Any]


class MiddlewareTime:
    """The time that the middleware of one host takes.

    Attributes:
        timer: the timer for the next examination, or None while no middleware runs.
        tools: the served tools, whose limits apply to their calls.
        code: the code of the coroutine that runs a middleware; its variables are those of a `Stage`.
        cuts: the number of times that each middleware was cancelled at its limit.

    Args:
        limit: returns the time limit of all other calls in seconds; 0 for no limit.
    """

    def __init__(self, limit: Callable[[], float]) -> None:
        self.timer: asyncio.TimerHandle | None = None
        self.tools: Mapping[str, BoundTool] = {}
        self.code: CodeType | None = None
        self.cuts: dict[Any, int] = {}
        self._limit = limit
        self._spent: dict[Any, float] = {}
        self._looked = 0.0

    def wake(self) -> None:
        """Examine the running middleware at intervals, until no middleware runs."""
        loop = asyncio.get_running_loop()
        self._looked = loop.time()
        self.timer = loop.call_later(MIDDLEWARE_CHECK_SECONDS, self._look, loop, context=Variables())

    def close(self) -> None:
        """Stop the examinations."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def settle(self, key: object) -> bool:
        """Undo the cancellations of a middleware. Return False if its call was also cancelled for another reason."""
        task, left = asyncio.current_task(), 0
        for _ in range(self.cuts.pop(key, 0)):
            left = task.uncancel() if task is not None else 0
        return left == 0

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        since, self._looked, self.timer = now - self._looked, now, None
        tasks = asyncio.all_tasks(loop)
        found = [stage for task in tasks if (stage := self._stage(task)) is not None]
        # a middleware that is seen for the first time may have begun just now
        self._spent = {
            stage.key: self._spent[stage.key] + since if stage.key in self._spent else 0.0
            for stage in found
            if not stage.key.inside
        }
        for stage in found:
            limit = self._limit_of(stage.call)
            if limit and self._spent.get(stage.key, 0.0) > limit + self.cuts.get(stage.key, 0) * MAX_CLEANUP_SECONDS:
                self._cut(stage, limit)
        if found:
            seconds = MIDDLEWARE_CHECK_SECONDS * (10 if len(tasks) > MANY_TASKS else 1)
            self.timer = loop.call_later(seconds, self._look, loop, context=Variables())

    def _stage(self, task: asyncio.Task[Any]) -> Stage | None:
        """Return the innermost middleware in which a task waits, or None."""
        frame: Any = None
        at: Any = task.get_coro()
        while at is not None:
            if getattr(at, "cr_code", None) is self.code:
                frame = at.cr_frame
            at = getattr(at, "cr_await", None)
        variables = {} if frame is None else frame.f_locals
        if "following" not in variables:
            return None  # it has not begun
        return Stage(variables["following"], variables["blame"], variables["call"], task)

    def _limit_of(self, call: Call) -> float:
        tool = self.tools.get(str(call.params.get("name"))) if call.method == "tools/call" else None
        return self._limit() if tool is None else tool.timeout

    def _cut(self, stage: Stage, limit: float) -> None:
        count = self.cuts[stage.key] = self.cuts.get(stage.key, 0) + 1
        if count == 1:
            call = stage.call
            name = str(call.params.get("name") or call.params.get("uri") or "")[:200]
            logger.warning(
                "%s took longer than %g s for %s %r and was cancelled", stage.blame, limit, call.method, name
            )
        stage.task.cancel()


def took_too_long() -> ToolTimeoutError:
    """Return the error for a call whose middleware took too long."""
    return ToolTimeoutError("It took too long and was given up.")
