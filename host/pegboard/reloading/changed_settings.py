"""Changes of the configuration, and of other files that plugins have read, since a host was started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.config import HostConfig
from pegboard.config.problems import KeyPath, dotted
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.definition_checks import DefinitionCheck
from pegboard.plugin.secrets import SecretStore
from pegboard.plugin.toolkit_loading import ToolkitLoader
from pegboard.reloading.own_modules import is_newer

_READERS = (DefinitionCheck, SecretStore, ToolkitLoader)
"""The contributions that read files, and name them."""


def changed_keys(before: HostConfig, now: HostConfig, path: KeyPath) -> list[str]:
    """Return the keys of a table that differ, or a key itself, each with the file and line of its new value."""
    old, new = (_leaves(config.sources.tree, path) for config in (before, now))
    return [_placed(now, key) for key in {**new, **old} if old.get(key) != new.get(key)]


def files_behind(plugin: LoadedPlugin) -> list[str]:
    """Return the files that the contributions of a plugin have read: secrets, and accepted definitions."""
    items = (item for contributions in plugin.contributions.values() for item in contributions)
    return [*dict.fromkeys(file for reader in items if isinstance(reader, _READERS) for file in reader.files_read)]


def changed_files(plugin: LoadedPlugin) -> list[str]:
    """Return those of these files that have changed since the plugin was loaded."""
    return [file for file in files_behind(plugin) if is_newer(file, plugin.loaded_at)]


def _leaves(tree: Any, path: KeyPath) -> dict[KeyPath, Any]:
    """Return the values below a path of a tree that are not tables, each with its path."""
    for part in path:
        tree = tree.get(part, {})
    if not isinstance(tree, Mapping):
        return {path: tree}
    return {(*path, *below): value for key in tree for below, value in _leaves(tree, (key,)).items()}


def _placed(config: HostConfig, path: KeyPath) -> str:
    source = config.source(path)
    return f"{dotted(path)} ({source})" if source.file else dotted(path)
