"""Toolkits of installed distributions that the operator names, also without entry points, and of `arcade_toolkits`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import importlib_metadata

from pegboard import PluginConfig
from pegboard.plugin import FoundToolkit, Plugin, PluginError, found_toolkits, hookimpl
from pegboard_plugins.support.distribution_modules import modules_of
from pegboard_plugins.toolkit_sources.arcade_toolkits import found_toolkit
from pegboard_plugins.toolkit_sources.arcade_toolkits.finder import toolkit_of

NAME_PREFIXES = ("", "toolkit-", "arcade-")
"""The beginnings of names of distributions, in the order of the search."""

GROUP = "pegboard.toolkits"


class ToolPackagesConfig(PluginConfig):
    """`[plugins.tool_packages]`.

    Attributes:
        names: names of installed distributions, such as "toolkit-github", or "github" for the first of `github`,
            `toolkit-github` and `arcade-github`.
    """

    names: tuple[str, ...] = ()


class ToolPackagesPlugin(Plugin):
    """Finds the toolkits of distributions."""

    Config = ToolPackagesConfig

    @hookimpl
    def register_toolkits(self) -> Iterable[FoundToolkit]:
        """Return the toolkits of the configured distributions."""
        distributions = {distribution.name: distribution for distribution in map(_distribution, self.config.names)}
        return [toolkit for distribution in distributions.values() for toolkit in _toolkits(distribution)]


def _distribution(name: str) -> importlib_metadata.Distribution:
    wanted = [prefix + re.sub(r"[-_.]+", "-", name.strip()).lower() for prefix in NAME_PREFIXES]
    for candidate in filter(None, wanted):
        try:
            distribution: importlib_metadata.Distribution = importlib_metadata.Distribution.from_name(candidate)
            return distribution
        except importlib_metadata.PackageNotFoundError:
            continue
        except ValueError:  # an empty name
            break
    raise PluginError(f"no distribution {' or '.join(wanted)} is installed: install one, or correct the name {name!r}")


def _toolkits(distribution: importlib_metadata.Distribution) -> list[FoundToolkit]:
    """Return the toolkits of a distribution: its entry points, or else those in its modules."""
    name, version = distribution.name, distribution.version
    entries = [entry for entry in distribution.entry_points if entry.group == GROUP]
    if entries:
        return [FoundToolkit(entry.name, entry.value, entry.load, name, version) for entry in entries]
    modules = dict(modules_of(distribution))

    def load(file: Path) -> ModuleType:
        return import_module(modules[file])

    own = re.sub(r"[-_.]+", "_", name).lower()
    named = own.removeprefix("toolkit_").removeprefix("arcade_")
    toolkits = found_toolkits(modules, load, named=named)
    if not toolkits and (arcade := toolkit_of(distribution)):
        return [found_toolkit(arcade, {})]
    if not toolkits:
        raise PluginError(f"the distribution {name} defines no tools: remove it from [plugins.tool_packages] names")
    return [toolkit._replace(distribution=name, version=version, folders=()) for toolkit in toolkits]
