"""The host's own threads for sync functions; who holds them is known, and told when others must wait for long.

A function that runs in a thread cannot be stopped. When its call has ended it holds its thread until it returns.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from time import monotonic
from types import CoroutineType
from typing import Any

logger = logging.getLogger("pegboard.threads")

LONG_WAIT_SECONDS = 5.0
"""After how long the log tells that functions wait for a thread."""
_MAX_NAMED_JOBS = 5
"""How many of those that hold threads are named."""


class Job:
    """One function that runs in a thread, or waits for one.

    Attributes:
        name: of the tool, for the log.
        begun: since when it runs, None while it waits.
        given_up: nobody waits for it any more.
        unawaited: what it returned, where that is still to be awaited.
    """

    __slots__ = ("begun", "function", "given_up", "keywords", "name", "unawaited")

    def __init__(self, function: Callable[..., Any], keywords: Mapping[str, Any], name: str) -> None:
        self.function = function
        self.keywords = keywords
        self.name = name
        self.begun: float | None = None
        self.given_up = False
        self.unawaited: CoroutineType[Any, Any, Any] | None = None

    def drop(self) -> None:
        """Nobody will await what it returned; Python would complain of it."""
        if self.unawaited is not None:
            self.unawaited.close()


class Threads:
    """The threads of one host; none exist before the first is needed.

    Args:
        size: how many functions run at once.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._pool: ThreadPoolExecutor | None = None
        self._running: set[Job] = set()
        self._open = 0
        self._waiting: dict[Job, float] = {}
        self._look: asyncio.TimerHandle | None = None
        self._told = False

    async def run(self, job: Job) -> tuple[Any, BaseException | None]:
        """Call a function in a thread; what it returned, and what it raised.

        The exception comes in a box: a future that is given `StopIteration` stays open for ever.

        Raises:
            asyncio.CancelledError: this was cancelled; the function, where it has begun, goes on.
        """
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._size, thread_name_prefix="pegboard-tool")
        loop = asyncio.get_running_loop()
        if self._open >= self._size or len(self._running) >= self._size:
            self._wait(job, loop)
        self._open += 1
        try:
            return await loop.run_in_executor(self._pool, copy_context().run, self._boxed, job)
        except asyncio.CancelledError:
            job.given_up = True
            job.drop()
            raise
        finally:
            self._open -= 1
            self._waiting.pop(job, None)

    async def step(self, function: Callable[[], Any]) -> Any:
        """Call a function in a thread; what it returned.

        Raises:
            BaseException: what it raised.
        """
        value, error = await self.run(Job(function, {}, "a step"))
        if error is not None:
            raise error
        return value

    def _boxed(self, job: Job) -> tuple[Any, BaseException | None]:
        job.begun = monotonic()
        self._waiting.pop(job, None)
        self._running.add(job)
        try:
            value = job.function(**job.keywords)
            if isinstance(value, CoroutineType):
                job.unawaited = value
            return value, None
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like are this call's failure
            return None, error
        finally:
            self._running.discard(job)
            if job.given_up:
                job.drop()
                logger.info("%s has ended after %.1f s; its thread is free", job.name, monotonic() - job.begun)

    @property
    def busy(self) -> int:
        """How many functions run right now."""
        return len(self._running)

    @property
    def given_up(self) -> int:
        """How many of them run on though their calls have ended."""
        return sum(job.given_up for job in tuple(self._running))

    def close(self) -> None:
        """Give the threads up. A function that runs cannot be stopped; nobody waits for it."""
        if self._look is not None:
            self._look.cancel()
            self._look = None
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _wait(self, job: Job, loop: asyncio.AbstractEventLoop) -> None:
        self._waiting[job] = monotonic()
        if self._look is None:
            self._look = loop.call_later(LONG_WAIT_SECONDS, self._tell_of_waiting, loop, context=Context())

    def _tell_of_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Log, once for as long as it lasts, that somebody has waited for long."""
        self._look = None
        if not self._waiting:
            self._told = False
            return
        now = monotonic()
        waited = now - min(tuple(self._waiting.values()), default=now)
        if waited >= LONG_WAIT_SECONDS and not self._told:
            self._told = True
            logger.warning(
                "functions have waited %.1f s for a thread: all %d are busy, %d with what outlived its call: %s. "
                "Give these functions time limits of their own inside, or raise [host] threads",
                waited,
                self._size,
                self.given_up,
                self._holders(now),
            )
        self._look = loop.call_later(LONG_WAIT_SECONDS, self._tell_of_waiting, loop, context=Context())

    def _holders(self, now: float) -> str:
        """The longest running functions."""
        since = sorted((job.begun or now, job.name) for job in tuple(self._running))
        named = [f"{name} for {now - begun:.0f} s" for begun, name in since[:_MAX_NAMED_JOBS]]
        return ", ".join(named) + (", ..." if len(since) > _MAX_NAMED_JOBS else "")
