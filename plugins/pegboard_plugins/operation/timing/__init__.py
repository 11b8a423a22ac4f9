"""Durations of requests: warnings about slow requests, a summary when the host stops, and `_meta` for clients.

A duration includes all inner middleware, the tool and its waiting.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from time import perf_counter

from pydantic import Field

from pegboard import NotFoundError, PluginConfig, PromptResult, ResourceResult, ToolResult
from pegboard.plugin import Middleware, Plugin, hookimpl
from pegboard.types import Call, CallNext, Outcome, RawResult

MAX_NAMES = 1000
"""The number of tools, resources and prompts that are counted by name. Others are counted by method."""
_MAX_NAME_CHARACTERS = 200
"""The length of a name that is logged."""

logger = logging.getLogger("pegboard.timing")


class TimingConfig(PluginConfig):
    """`[plugins.timing]`.

    Attributes:
        slow_ms: requests that take longer are logged as warnings; 0 for none.
        summary: log number and duration of requests of each kind when the host stops.
        meta: add the duration to results, as `_meta["pegboard/timing"]["durationMs"]`.
    """

    slow_ms: float = Field(1000, ge=0)
    summary: bool = True
    meta: bool = False


class TimingPlugin(Plugin):
    """The middleware and its summary."""

    Config = TimingConfig

    def __init__(self, config: TimingConfig) -> None:
        super().__init__(config)
        self._timing = Timing(config)

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [self._timing]

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Log the summary when the host stops."""
        yield
        if self.config.summary:
            for line in self._timing.summary():
                logger.info("%s", line)


class Timing(Middleware):
    """Middleware that measures requests.

    Args:
        config: the settings.
        clock: a clock in seconds.
    """

    def __init__(self, config: TimingConfig, clock: Callable[[], float] = perf_counter) -> None:
        self._config = config
        self._clock = clock
        self._spent: dict[tuple[str, str], Spent] = {}

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        started = self._clock()
        known = True
        try:
            outcome = await call_next(call)
        except NotFoundError:
            known = False
            raise
        finally:
            milliseconds = (self._clock() - started) * 1000
            self._count(call, milliseconds, known=known)
        if self._config.meta and isinstance(outcome, ToolResult | ResourceResult | PromptResult):
            timing = {"pegboard/timing": {"durationMs": round(milliseconds, 3)}}
            return outcome._replace(meta={**(outcome.meta or {}), **timing})
        if self._config.meta and isinstance(outcome, RawResult):
            return outcome.with_meta({"pegboard/timing": {"durationMs": round(milliseconds, 3)}})
        return outcome

    def _count(self, call: Call, milliseconds: float, *, known: bool) -> None:
        name = call.params.get("name") or call.params.get("uri")
        key = (call.method, name if known and isinstance(name, str) and len(name) <= _MAX_NAME_CHARACTERS else "")
        if key not in self._spent and len(self._spent) >= MAX_NAMES:
            key = (call.method, "")
        self._spent.setdefault(key, Spent()).add(milliseconds)
        if 0 < self._config.slow_ms < milliseconds:
            logger.warning("%s is slow: it took %.0f ms", " ".join(filter(None, key)), milliseconds)

    def summary(self) -> list[str]:
        """Return a line for each kind of request, the largest total first."""
        entries = sorted(self._spent.items(), key=lambda pair: -pair[1].total)
        return [f"{' '.join(filter(None, key))}: {spent}" for key, spent in entries]


class Spent:
    """The durations of one kind of request, in milliseconds."""

    __slots__ = ("count", "longest", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.longest = 0.0

    def add(self, milliseconds: float) -> None:
        self.count += 1
        self.total += milliseconds
        self.longest = max(self.longest, milliseconds)

    def __str__(self) -> str:
        times = "once" if self.count == 1 else f"{self.count} times"
        return f"{times}, {self.total / self.count:.1f} ms on average, {self.longest:.1f} ms at most"
