"""The selection of stores by settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from pegboard.config import ConfigProblem, HostConfig
from pegboard.config.models import StoreName, marked_fields
from pegboard.config.problems import KeyPath
from pegboard.hookspecs import register_stores
from pegboard.loading.plugins import SECTION_OF_KIND, LoadedPlugin
from pegboard.names import nearest
from pegboard.plugin.bus import Bus
from pegboard.plugin.origin import Origin
from pegboard.plugin.stores import RecordStore, Store

StoreKey: TypeAlias = tuple[type[Any], str]
"""The contract and the name of a store."""


OfferedStore: TypeAlias = tuple[Origin, Store]
"""A store, and the plugin that offers it."""
Stores: TypeAlias = Mapping[StoreKey, OfferedStore]
ProcessCheck: TypeAlias = Callable[[int], None]
"""Raises `PluginError` if the given number of processes cannot serve with a store."""


def offered_stores(plugins: Sequence[LoadedPlugin]) -> Iterator[tuple[StoreKey, OfferedStore]]:
    """Yield every store that a plugin offers, by its contract and name."""
    for plugin in plugins:
        for store in plugin.contributed(register_stores):
            yield (store.contract, store.name or plugin.origin.name), (plugin.origin, store)


def select_stores(
    config: HostConfig,
    plugins: Sequence[LoadedPlugin],
    offered: Stores,
    absent: Collection[str],
    *,
    fall_back: bool,
) -> tuple[Stores, list[ConfigProblem]]:
    """Return the selected stores, and a problem for each setting that names an unknown store.

    Args:
        config: the configuration, with the source of each setting.
        plugins: the enabled plugins.
        offered: the stores to select from.
        absent: the names of plugins that are installed but not enabled.
        fall_back: True to select the setting's default if the named store is not offered.
    """
    selected: dict[StoreKey, OfferedStore] = {}
    problems: list[ConfigProblem] = []
    state = config.host.state
    if state is not None:
        own = ((contract, state) for contract in (Bus, RecordStore))
        selected.update({key: offered[key] for key in own if key in offered})
        if (Bus, state) not in offered and not fall_back:
            problems.append(_unknown(config, ("host", "state"), (Bus, state), offered, absent))
    for path, key, default, check in (setting for plugin in plugins for setting in _settings(plugin)):
        store = offered.get(key)
        if store is None and (fall_back or key[1] == state):
            if default is None:
                continue
            store = offered.get((key[0], default))  # the plugin of the state may offer only some stores
        if store is None:
            problems.append(_unknown(config, path, key, offered, absent))
        else:
            selected[key] = _with_check(selected.get(key, store), check)
    return selected, problems


def _with_check(offered: OfferedStore, check: ProcessCheck | None) -> OfferedStore:
    """Return a store whose check includes that of a setting."""
    if check is None:
        return offered
    origin, store = offered
    own = store.check

    def check_both(count: int) -> None:
        if own is not None:
            own(count)
        check(count)

    return origin, store._replace(check=check_both)


def _settings(plugin: LoadedPlugin) -> Iterator[tuple[KeyPath, StoreKey, Any, ProcessCheck | None]]:
    """Yield the path, the store, the default and the check of each setting that names a store."""
    settings = plugin.context.config
    for key, field, mark in marked_fields(type(settings), StoreName) if settings is not None else ():
        if (name := getattr(settings, key)) is not None:
            path = (SECTION_OF_KIND[plugin.origin.kind], plugin.origin.name, key)
            check = None if mark.check is None else partial(mark.check, settings)
            yield path, (mark.contract, name), field.default, check


def _unknown(
    config: HostConfig, path: KeyPath, key: StoreKey, offered: Stores, absent: Collection[str]
) -> ConfigProblem:
    contract, name = key
    message = f"no running plugin offers a {contract.__name__} named {name!r}"
    if name in absent:
        return config.problem(f"{message}; the plugin of this name does not run: add a section [plugins.{name}]", path)
    message += "; name a plugin that offers one, or remove the setting"
    return config.problem(message, path, nearest(name, [other for kind, other in offered if kind is contract]))
