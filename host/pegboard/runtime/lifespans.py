"""The contexts that a host has entered: lifespans of plugins, stores, observers, and the ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from pegboard.calls.failures import is_cancelled, told_traceback
from pegboard.errors import PluginError
from pegboard.hookspecs import register_telemetry
from pegboard.loading.plugins import LoadedPlugin, LoadProblem, LoadReport, contributions_of
from pegboard.messages.error_fields import describe_error
from pegboard.plugin.base import Lifespan
from pegboard.plugin.observers import Gauge, Observer

if TYPE_CHECKING:
    from pegboard.calls.threads import Threads
    from pegboard.host import Host
    from pegboard.runtime.call_counter import CallCounter
    from pegboard.runtime.observation import Observation

logger = logging.getLogger("pegboard")

Entered: TypeAlias = list[tuple[str, Lifespan]]
"""The entered contexts, each with its owner."""


async def enter_all(plugin: LoadedPlugin, entered: Entered) -> BaseException | None:
    """Enter the lifespans of a plugin, each in a task of its own. Return the error of a lifespan that fails.

    Raises:
        asyncio.CancelledError: the task was cancelled.
    """
    lifespans = plugin.contributions["lifespan"]
    owner = str(plugin.origin)
    lifespans[:] = [
        lifespan if isinstance(lifespan, nullcontext) else LifespanTask(lifespan, owner) for lifespan in lifespans
    ]
    for lifespan in lifespans:
        try:
            plugin.state = await lifespan.__aenter__()
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if is_cancelled(error, None):
                raise
            logger.debug("the lifespan of %s failed", owner, exc_info=True)
            return error
        entered.append((owner, lifespan))
    return None


async def start_plugins(report: LoadReport, entered: Entered, *, strict: bool) -> tuple[list[LoadedPlugin], LoadReport]:
    """Enter the lifespans of loaded plugins. Return the plugins that have started, and the report with the failures."""
    started: list[LoadedPlugin] = []
    problems = [*report.problems]
    for plugin in report.plugins:
        error = await enter_all(plugin, entered)
        if error is None:
            started.append(plugin)
            continue
        named = any(choice.named for choice in report.choices if choice.origin is plugin.origin)
        problems.append(LoadProblem("lifespan", describe_error(error), plugin.origin, fatal=strict or named))
    return started, report._replace(problems=tuple(problems))


async def leave_all(entered: Entered) -> bool:
    """Leave contexts in reverse order. If one fails, the others are still left.

    Return True if the task was cancelled.
    """
    cancelled = False
    while entered:
        owner, lifespan = entered.pop()
        try:
            await lifespan.__aexit__(None, None, None)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            cancelled = cancelled or bool(task and task.cancelling())
            logger.warning("the lifespan of %s was cancelled while it ended", owner)
        except (Exception, SystemExit) as error:
            logger.error("the lifespan of %s failed to end", owner, exc_info=told_traceback(error))
    return cancelled


def observe(
    running: Sequence[LoadedPlugin], host: Host, calls: CallCounter, threads: Threads, entered: Entered
) -> Observation | None:
    """Pass all gauges to the observers of plugins, and begin to observe sessions. Return None without observers."""
    contributed = [contribution for _, contribution in contributions_of(running, register_telemetry)]
    observers = [contribution for contribution in contributed if isinstance(contribution, Observer)]
    if not observers:
        return None
    from pegboard.runtime.observation import Observation, host_gauges

    gauges = [
        *host_gauges(host, calls, threads),
        *(contribution for contribution in contributed if isinstance(contribution, Gauge)),
    ]
    observation = Observation(observers, gauges)
    entered.append(("the observers", observation))
    return observation


def lifespans_of(plugins: Sequence[LoadedPlugin], entered: Entered) -> Entered:
    """Return the entered lifespans of plugins."""
    own = {id(lifespan) for plugin in plugins for lifespan in plugin.contributions["lifespan"]}
    return [entry for entry in entered if id(entry[1]) in own]


class LateLifespans:
    """Enters the lifespans of toolkits that other threads import while the host runs.

    Args:
        entered: the entered contexts of the host.
    """

    def __init__(self, entered: Entered) -> None:
        self._entered = entered
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Accept lifespans. The event loop of the host calls this."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Accept no more lifespans, because the host stops."""
        self._loop = None

    def enter(self, plugin: LoadedPlugin) -> None:
        """Enter the lifespans of a plugin, and wait until they have started.

        Raises:
            PluginError: a lifespan failed, or the host has stopped.
        """
        if not all(isinstance(lifespan, nullcontext) for lifespan in plugin.contributions["lifespan"]):
            self._run(plugin, self._enter)

    def leave(self, plugin: LoadedPlugin) -> None:
        """Leave the lifespans of a plugin that is not served. A host that stops leaves them itself."""
        if self._loop is not None and lifespans_of([plugin], self._entered):
            self._run(plugin, self._leave)

    def _run(self, plugin: LoadedPlugin, step: Callable[[LoadedPlugin], Coroutine[Any, Any, None]]) -> None:
        if (loop := self._loop) is None:
            raise PluginError(f"{plugin.origin} failed: the host has stopped")
        try:
            asyncio.run_coroutine_threadsafe(step(plugin), loop).result()
        except CancelledError:
            raise PluginError(f"{plugin.origin} failed: the host has stopped") from None

    async def _enter(self, plugin: LoadedPlugin) -> None:
        error = await enter_all(plugin, self._entered)
        if error is not None:
            raise PluginError(f"{plugin.origin} failed: its lifespan: {describe_error(error)}")
        if self._loop is None:  # the host has left the others
            await self._leave(plugin)
            raise PluginError(f"{plugin.origin} failed: the host has stopped")

    async def _leave(self, plugin: LoadedPlugin) -> None:
        own = lifespans_of([plugin], self._entered)
        for entry in own:
            self._entered.remove(entry)
        await leave_all(own)


# --- A lifespan in its own task. Task groups and cancel scopes must be left in the task that has entered them.


class LifespanTask(AbstractAsyncContextManager[Any]):
    """Enters and leaves a lifespan in one task. Other tasks, such as a reload, may request the end.

    Args:
        lifespan: the lifespan.
        owner: its plugin, for the log.
    """

    def __init__(self, lifespan: Lifespan, owner: str) -> None:
        self._lifespan = lifespan
        self._owner = owner
        self._leaving = asyncio.Event()

    async def __aenter__(self) -> Any:
        entered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(entered), name=f"lifespan of {self._owner}")
        try:
            return await entered
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait((self._task,))
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leaving.set()
        error = await self._task
        if error is not None:
            raise error

    async def _run(self, entered: asyncio.Future[Any]) -> BaseException | None:
        """Return the error of the lifespan's end. Do not raise it: `SystemExit` in a task stops the event loop."""
        try:
            async with self._lifespan as state:
                if not entered.done():
                    entered.set_result(state)
                await self._leaving.wait()
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if not entered.done():
                entered.set_exception(error)
            elif self._leaving.is_set() or entered.cancelled():
                return error
            else:
                text = "the lifespan of %s failed while the host ran"
                logger.error(text, self._owner, exc_info=told_traceback(error))
        return None
