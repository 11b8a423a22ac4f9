"""A reload of a running host: changed plugins are loaded, started and published as one new assembly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial

from pegboard.calls.failures import is_cancelled
from pegboard.catalogue.binding import Binder
from pegboard.catalogue.registry import Registry
from pegboard.config import HostConfig
from pegboard.errors import ConfigError, MCPError
from pegboard.loading.discovery import ProgramPlugins, Selection
from pegboard.loading.plugins import LoadReport, refuse_fatal
from pegboard.messages.error_fields import describe_error
from pegboard.plugin.origin import PROGRAM
from pegboard.reloading.own_modules import changed_keys
from pegboard.reloading.units import Reloading, Served, Unit
from pegboard.runtime.call_counter import CallCounter
from pegboard.runtime.lifespans import Entered, enter_all, leave_all, lifespans_of
from pegboard.secrets.redaction import Redactor, redacted
from pegboard.types.reloads import ReloadResult

_RESTART_KEYS = (
    "reload",
    *("name", "version", "title", "description", "instructions", "website_url", "icons", "transports"),
    *("token_seconds", "page_size", "threads", "blocked_loop_seconds", "grace_seconds"),
)
"""The keys of `[host]` that only a new process applies."""


MAX_INTERRUPTION_SECONDS = 1.0
"""The time limit for the end of the thread of a cancelled reload."""


class Reloader(AbstractAsyncContextManager["Reloader"]):
    """The reloads of one host, one after the other. The host leaves it when it stops.

    Args:
        served: the host before the first reload.
        selection: the command line's selection.
        registry: the catalogues of the plugins.
        redactor: masks secrets.
        entered: the contexts that the host leaves when it stops.
        calls: the calls in flight.

    Attributes:
        served: the host after the last reload.
    """

    def __init__(
        self,
        served: tuple[HostConfig, ProgramPlugins, LoadReport],
        selection: Selection,
        registry: Registry,
        redactor: Redactor,
        entered: Entered,
        calls: CallCounter,
    ) -> None:
        self.served = Served(*served)
        self._selection = selection
        self._registry = registry
        self._redactor = redactor
        self._entered = entered
        self._calls = calls
        self._lock = asyncio.Lock()
        self._leaving: set[asyncio.Task[None]] = set()
        self._results: list[ReloadResult] = []
        self._retired: Entered = []
        entered.append(("reloads", self))

    async def reload(self, config: HostConfig, names: Collection[str]) -> Sequence[ReloadResult]:
        """Apply changes. See `Host.reload`."""
        if config is not self.served.config:
            self._redactor.learn(config.secret_values)
        async with self._lock:
            self._results, self._retired = [], []
            await self._apply(config, names)
            results, retired = self._results, self._retired
        if retired:
            task = asyncio.create_task(self._leave(self._calls.begin_epoch(), retired))
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)
        return [result._replace(reason=redacted(result.reason, self._redactor)) for result in results]

    async def _leave(self, calls: asyncio.Event, lifespans: Entered) -> None:
        """Leave the lifespans of old versions after the calls that may use them."""
        await calls.wait()
        for entry in lifespans:
            self._entered.remove(entry)
        await leave_all(lifespans)

    async def __aexit__(self, *_: object) -> None:
        """Stop leaving the lifespans of old versions. The host leaves the remaining lifespans when it stops."""
        for task in self._leaving:
            task.cancel()

    # --- one reload

    async def _apply(self, config: HostConfig, names: Collection[str]) -> None:
        """Reload what has changed, and the plugins with these names.

        Raises:
            PluginError: no plugin, toolkit or distribution has one of the names.
        """
        before = self.served
        config, restart, host_keys = _applicable(before.config, config)
        running = [plugin for plugin in self._registry.plugins if plugin.instance is not None]
        reloading = Reloading(before, config, self._selection, running, self._registry.context)
        try:
            try:
                await _in_thread(partial(reloading.load, names), reloading.interrupt)
            except ConfigError as error:
                self._results.append(_kept("; ".join(str(error).splitlines())))
                return
            applied = [unit for unit in reloading.units if unit.result is not None and unit.result.is_applied]
            self._registry.join([plugin for unit in applied for plugin in unit.fresh])
            for unit in applied:
                await self._start(unit)
            if any(unit.fresh or unit.old for unit in applied) or config.host != before.config.host:
                await self._publish(reloading, applied)
        except BaseException:
            if self.served is before:
                await self._undo(reloading.units, "the reload was interrupted")
            raise
        finally:
            self._registry.join(())
        if self.served is not before:
            self._results += [ReloadResult(key, "reloaded") for key in host_keys]
        self._results += [ReloadResult(name, "restart needed") for name in restart]
        self._results += [unit.result for unit in reloading.units if unit.result is not None]

    async def _start(self, unit: Unit) -> None:
        """Enter the lifespans of new plugins. If a lifespan fails, keep the old version."""
        for plugin in unit.fresh:
            error = await enter_all(plugin, self._entered)
            if error is not None:
                await self._undo([unit], f"lifespan: {describe_error(error)}")
                return

    async def _publish(self, reloading: Reloading, applied: Sequence[Unit]) -> None:
        """Serve the new assembly. If it has a fatal problem, keep the old versions."""
        try:
            await _in_thread(partial(self._assemble, reloading))
        except (Exception, SystemExit) as error:
            if is_cancelled(error, None):
                raise
            reason = str(error) if isinstance(error, MCPError) else describe_error(error)
            await self._undo(applied, reason)
            if not applied:
                self._results.append(_kept(reason))
            return
        now = {id(plugin) for plugin in self._registry.plugins}
        old = [plugin for unit in applied for plugin in unit.old if id(plugin) not in now]
        self._retired = lifespans_of(old, self._entered)

    def _assemble(self, reloading: Reloading) -> None:
        served = reloading.served()
        config, report = served.config, served.report
        refuse_fatal(report.problems, self._redactor)
        program = [plugin for plugin in self._registry.plugins if plugin.origin is PROGRAM]
        plugins = (*report.plugins, *program)
        binder = Binder(config, plugins, report.choices, self._redactor)
        self._registry.replace(binder, report.absent(plugins), check_order=not self._selection.safe)
        self.served = served

    async def _undo(self, units: Sequence[Unit], reason: str) -> None:
        """Keep the old versions of units, and leave the lifespans of the new versions."""
        for unit in units:
            started = lifespans_of(unit.fresh, self._entered)
            for entry in started:
                self._entered.remove(entry)
            if unit.result is not None and unit.result.is_applied:
                unit.fail(reason)
            await leave_all(started)


def _kept(reason: str) -> ReloadResult:
    return ReloadResult("the configuration", "kept", reason)


async def _in_thread(work: Callable[[], None], interrupt: Callable[[], None] = lambda: None) -> None:
    """Run a function in a thread. If the task is cancelled, interrupt the function and wait for its end."""
    running = asyncio.create_task(asyncio.to_thread(work))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        interrupt()
        await asyncio.wait((running,), timeout=MAX_INTERRUPTION_SECONDS)
        raise


def _applicable(before: HostConfig, config: HostConfig) -> tuple[HostConfig, list[str], list[str]]:
    """Return the configuration with the old values of the keys that need a restart, these keys, and the other keys."""
    old = before.host
    new = config.host
    changed = [name for name in type(new).model_fields if getattr(old, name) != getattr(new, name)]
    restart = [name for name in changed if name in _RESTART_KEYS]
    described = {name: changed_keys(before, config, ("host", name)) or [f"host.{name}"] for name in changed}
    applied = [text for name in changed if name not in _RESTART_KEYS for text in described[name]]
    if restart:
        kept = {name: getattr(old, name) for name in restart}
        config = replace(config, host=new.model_copy(update=kept))
    return config, [text for name in restart for text in described[name]], applied
