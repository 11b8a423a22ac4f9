"""Reloads of a host that serves, at a signal or after a change of a file."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pegboard.cli.log_setup import change_log, check_log
from pegboard.cli.reloads.running_hosts import RunningHost
from pegboard.config import HostConfig
from pegboard.errors import ConfigError, MCPError
from pegboard.host import Host
from pegboard.messages.error_fields import describe_error
from pegboard.reloading.own_modules import files_behind
from pegboard.reloading.source_changes import WatchedPlaces, watch_places, with_packages
from pegboard.reloading.units import own_folders
from pegboard.terminal.printing import say
from pegboard.types.reloads import ReloadResult

logger = logging.getLogger("pegboard")


class ReloadRequests:
    """Reloads a host when a reload is requested, one reload at a time.

    Args:
        host: the started host.
        read_config: reads the configuration again.
        announced: True to let other commands, such as `pegboard reload`, find this host.
        reloaded: called when a reload has ended.

    Attributes:
        record: the record by which other commands find this host.
    """

    def __init__(
        self,
        host: Host,
        read_config: Callable[[], HostConfig],
        *,
        announced: bool,
        reloaded: Callable[[], None] = lambda: None,
    ) -> None:
        self._reloaded = reloaded
        self.record = RunningHost(host, os.environ if announced else None)
        self._host = host
        self._read_config = read_config
        self._requested = asyncio.Event()
        self._is_asked = False
        self._watching: asyncio.Task[None] | None = None

    def request(self) -> None:
        """Request a reload whose result is always shown. Requests during a reload cause one more reload."""
        self._is_asked = True
        self._requested.set()

    async def run_until(self, ends: Sequence[asyncio.Future[Any]]) -> None:
        """Reload at each request until one of the futures is done."""
        with self.record:
            reloading = asyncio.create_task(self._reload_on_request())
            self._watch()
            try:
                await asyncio.wait([*ends], return_when=asyncio.FIRST_COMPLETED)
            finally:
                tasks = [task for task in (reloading, self._watching) if task is not None]
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)

    async def _reload_on_request(self) -> None:
        while True:
            await self._requested.wait()
            self._requested.clear()
            is_asked, self._is_asked = self._is_asked, False
            results = await self._reload()
            if is_asked and not results:
                say("nothing has changed")
            for result in results:
                say(str(result), level=20 if result.is_applied else 40)
            self.record.write(results)
            self._reloaded()
            if any(result.is_applied for result in results):
                # the objects of the old version were frozen after the start
                gc.unfreeze()
                gc.collect()
                gc.freeze()
                self._watch()

    async def _reload(self) -> Sequence[ReloadResult]:
        try:
            before, config = self._host.config, await asyncio.to_thread(self._read_config)
            check_log(before, config)
            results = await self._host.reload(config=config)
            change_log(before, self._host.config, results)
            return results
        except ConfigError as error:
            return [ReloadResult("the configuration", "kept", "; ".join(str(error).splitlines()))]
        except MCPError as error:
            return [ReloadResult("the host", "kept", str(error))]
        except Exception as error:
            logger.exception("the reload failed")
            return [ReloadResult("the host", "kept", describe_error(error))]

    def _watch(self) -> None:
        """Request a reload after each change of a file, if `[host] reload` is set. New code has new files."""
        if not self._host.config.host.reload:
            return
        if self._watching is not None:
            self._watching.cancel()
        self._watching = asyncio.create_task(watch_places(self._places, self._requested.set))

    def _places(self) -> WatchedPlaces:
        folders = own_folders(self._host.report.plugins, self._host.report.files)
        files = [file for plugin in self._host.report.plugins for file in files_behind(plugin)]
        files += [str(self._host.config.file)] if self._host.config.file else []
        return WatchedPlaces(
            folders=with_packages(folders),
            files=frozenset(map(os.path.realpath, files)),
            installed={os.path.realpath(folder) for folder in sys.path},
        )
