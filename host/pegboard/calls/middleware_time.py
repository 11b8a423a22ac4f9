"""Ends middleware that takes longer than the limit of its call. All that a call pays for it is its place in a set."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextvars import Context as Variables
from typing import Any, Protocol

from pegboard.calls.deadlines import GRACE_SECONDS
from pegboard.contracts import Call
from pegboard.errors import ToolTimeoutError

INTERVAL_SECONDS = 0.5
"""How often the middleware that runs is looked at."""

logger = logging.getLogger("pegboard")


class Stage(Protocol):
    """A middleware in one call.

    Attributes:
        blame: its name, for the log.
        call: the call.
        inside: it waits for `call_next`, which has limits of its own.
        task: runs it.
        cuts: how many times it was cancelled for taking too long.
    """

    blame: str
    call: Call
    inside: bool
    task: asyncio.Task[Any] | None
    cuts: int


class Timed(Protocol):
    """A tool, as far as its limit goes."""

    @property
    def timeout(self) -> float:
        """The seconds that a call may take; 0 for no limit."""
        ...


class MiddlewareTime:
    """The time that the middleware of one host takes.

    Attributes:
        running: the middleware that runs now, once for each call.
        timer: ends the wait for the next look, None while nothing runs.
        tools: the tools that are served, whose limits hold for their calls.

    Args:
        limit: the seconds that any other call may take; 0 for no limit.
    """

    def __init__(self, limit: float) -> None:
        self.running: set[Stage] = set()
        self.timer: asyncio.TimerHandle | None = None
        self.tools: Mapping[str, Timed] = {}
        self._limit = limit
        self._spent: dict[Stage, float] = {}
        self._looked = 0.0

    def wake(self) -> None:
        """Look at the middleware from time to time, for as long as any runs."""
        loop = asyncio.get_running_loop()
        self._looked = loop.time()
        self.timer = loop.call_later(INTERVAL_SECONDS, self._look, loop, context=Variables())

    def close(self) -> None:
        """Look no more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _limit_of(self, call: Call) -> float:
        tool = self.tools.get(str(call.params.get("name"))) if call.method == "tools/call" else None
        return self._limit if tool is None else tool.timeout

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        since, self._looked, self.timer = now - self._looked, now, None
        # one that is seen for the first time may have begun just now
        self._spent = {
            stage: self._spent[stage] + since if stage in self._spent else 0.0
            for stage in self.running
            if not stage.inside
        }
        for stage, seconds in self._spent.items():
            limit = self._limit_of(stage.call)
            if limit and seconds > limit + stage.cuts * GRACE_SECONDS:
                _cut(stage, limit)
        if self.running:
            self.timer = loop.call_later(INTERVAL_SECONDS, self._look, loop, context=Variables())


def _cut(stage: Stage, limit: float) -> None:
    if not stage.cuts:
        call = stage.call
        name = str(call.params.get("name") or call.params.get("uri") or "")[:200]
        logger.warning("%s took longer than %g s for %s %r and was cancelled", stage.blame, limit, call.method, name)
    stage.cuts += 1
    if stage.task is not None:
        stage.task.cancel()


def settle(stage: Stage) -> bool:
    """Take back the cancellations of a middleware. Return False if its call was cancelled for other reasons, too."""
    left, cuts, stage.cuts = 0, stage.cuts, 0
    if stage.task is not None:
        for _ in range(cuts):
            left = stage.task.uncancel()
    return left == 0


def took_too_long() -> ToolTimeoutError:
    """Return the error for a call whose middleware took too long."""
    return ToolTimeoutError("It took too long and was given up.")
