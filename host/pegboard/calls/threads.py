"""The threads of one host for sync functions.

If functions wait long for a thread, the log names the functions that occupy the threads. A function in a thread cannot
be stopped. It occupies its thread until it returns, even after its call has ended.
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
"""The seconds that a function may wait for a thread before the host logs a warning."""
_MAX_NAMED_JOBS = 5
"""The number of running functions that the warning names."""


class Job:
    """A function that runs in a thread or waits for a thread.

    Attributes:
        name: the tool's name, for the log.
        begun: the time at which the function started, or None before it has started.
        given_up: True after the call of the function has ended without waiting for the result.
        ended: the value and the exception of the function after its end. One of the two is None.
    """

    __slots__ = ("begun", "ended", "function", "given_up", "keywords", "name")

    def __init__(self, function: Callable[..., Any], keywords: Mapping[str, Any], name: str) -> None:
        self.function = function
        self.keywords = keywords
        self.name = name
        self.begun: float | None = None
        self.given_up = False
        self.ended: tuple[Any, BaseException | None] | None = None

    def take(self) -> Any:
        """Return the value of the function once, or raise its exception."""
        assert self.ended is not None
        value, error = self.ended
        self.ended = None
        if error is not None:
            try:
                raise error
            finally:
                del error  # in a cycle with its traceback it would keep the variables of the function
        return value

    def drop(self) -> None:
        """Close a returned coroutine that no call will await, so that Python does not warn."""
        value = self.ended and self.ended[0]
        if isinstance(value, CoroutineType):
            value.close()


class Threads:
    """The threads of one host. The first function that runs creates the threads.

    Args:
        size: the number of threads.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._pool: ThreadPoolExecutor | None = None
        self._running: set[Job] = set()
        self._open = 0
        self._waiting: dict[Job, float] = {}
        self._look: asyncio.TimerHandle | None = None
        self._logged = False

    async def run(self, job: Job) -> Job:
        """Call a function in a thread. Return the job after the function has ended.

        The exception of the function is not raised, because a coroutine cannot raise `StopIteration`.

        Raises:
            asyncio.CancelledError: the call was cancelled. A function that has started continues.
        """
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._size, thread_name_prefix="pegboard-tool")
        loop = asyncio.get_running_loop()
        if self._open >= self._size or len(self._running) >= self._size:
            self._wait(job, loop)
        self._open += 1
        try:
            await loop.run_in_executor(self._pool, copy_context().run, self._run, job)
            return job
        except asyncio.CancelledError:
            job.given_up = True
            job.drop()
            raise
        finally:
            self._open -= 1
            self._waiting.pop(job, None)

    async def step(self, function: Callable[[], Any], name: str = "a step") -> Any:
        """Call a function in a thread and return its value. The name is for the log.

        Raises:
            BaseException: the exception of the function.
        """
        return (await self.run(Job(function, {}, name))).take()

    def _run(self, job: Job) -> None:
        job.begun = monotonic()
        self._waiting.pop(job, None)
        self._running.add(job)
        try:
            job.ended = job.function(**job.keywords), None
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like are this call's failure
            job.ended = None, error
        finally:
            self._running.discard(job)
            if job.given_up:
                job.drop()
                logger.info("%s has ended after %.1f s; its thread is free", job.name, monotonic() - job.begun)

    @property
    def busy(self) -> int:
        """The number of running functions."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """The number of functions that wait for a thread."""
        return len(self._waiting)

    @property
    def given_up(self) -> int:
        """The number of functions that still run after their calls have ended."""
        return sum(job.given_up for job in tuple(self._running))

    def close(self) -> None:
        """Release the threads. Running functions cannot be stopped and are not awaited."""
        if self._look is not None:
            self._look.cancel()
            self._look = None
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _wait(self, job: Job, loop: asyncio.AbstractEventLoop) -> None:
        self._waiting[job] = monotonic()
        if self._look is None:
            self._look = loop.call_later(LONG_WAIT_SECONDS, self._log_waiting, loop, context=Context())

    def _log_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Warn once that functions have waited long for a thread, until no function waits."""
        self._look = None
        if not self._waiting:
            self._logged = False
            return
        now = monotonic()
        waited = now - min(tuple(self._waiting.values()), default=now)
        if waited >= LONG_WAIT_SECONDS and not self._logged:
            self._logged = True
            logger.warning(
                "functions have waited %.1f s for a thread: all %d are busy, %d with functions whose calls have ended: "
                "%s. Set time limits inside these functions, or raise [host] threads",
                waited,
                self._size,
                self.given_up,
                self._holders(now),
            )
        self._look = loop.call_later(LONG_WAIT_SECONDS, self._log_waiting, loop, context=Context())

    def _holders(self, now: float) -> str:
        """Return the names of the functions that have run longest, with their durations, for the log."""
        since = sorted((job.begun or now, job.name) for job in tuple(self._running))
        named = [f"{name} for {now - begun:.0f} s" for begun, name in since[:_MAX_NAMED_JOBS]]
        return ", ".join(named) + (", ..." if len(since) > _MAX_NAMED_JOBS else "")
