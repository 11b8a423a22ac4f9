"""Unmodified toolkits of the Arcade system, such as arcade-github, with the names of `compat`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from time import perf_counter
from typing import Any

from pegboard import PluginConfig
from pegboard.plugin import FoundToolkit, Plugin, hookimpl
from pegboard_plugins.toolkit_sources.arcade_toolkits.finder import InstalledToolkit, toolkits_named

SLOW_SECONDS = 2.0
"""The time for the imports of all toolkits from which the start names them."""

MAX_NAMED = 5
"""The maximum number of toolkits that the start names."""

logger = logging.getLogger("pegboard.plugins.arcade")


class ArcadeConfig(PluginConfig):
    """`[plugins.arcade]`.

    Attributes:
        names: names or globs of installed distributions, such as "arcade-github" or "github". `["*"]` serves every
            installed toolkit of the Arcade system.
    """

    names: tuple[str, ...]


class ArcadePlugin(Plugin):
    """Finds the toolkits."""

    Config = ArcadeConfig

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.import_seconds: dict[str, float] = {}

    @hookimpl
    def register_toolkits(self) -> Iterable[FoundToolkit]:
        """Return the toolkits of the configured distributions."""
        return [found_toolkit(toolkit, self.import_seconds) for toolkit in toolkits_named(self.config.names)]

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Log the toolkits whose imports made the start slow."""
        if sum(self.import_seconds.values()) >= SLOW_SECONDS:
            slowest = sorted(self.import_seconds.items(), key=lambda pair: -pair[1])
            logger.warning(
                "the start has imported toolkits: %s. Run `pegboard lock`, and set [plugins.lock] lazy = true: each is "
                "then imported at its first call",
                ", ".join(f"{name} took {seconds:.1f} s" for name, seconds in slowest[:MAX_NAMED]),
            )
        yield


def found_toolkit(installed: InstalledToolkit, import_seconds: dict[str, float]) -> FoundToolkit:
    """Return a toolkit that is not imported yet.

    Args:
        installed: the distribution.
        import_seconds: receives the time of the import by the name of the distribution.
    """
    distribution = installed.distribution
    load = partial(_load, installed, import_seconds)
    return FoundToolkit(installed.toolkit, installed.name, load, distribution.name, distribution.version)


def _load(installed: InstalledToolkit, import_seconds: dict[str, float]) -> Any:
    from pegboard_plugins.toolkit_sources.arcade_toolkits.loading import load_toolkit  # a lazy host needs no decorators

    started = perf_counter()
    kit = load_toolkit(installed)
    import_seconds[installed.name] = perf_counter() - started
    return kit
