"""The selection of stores by settings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pegboard.config import ConfigProblem, HostConfig
from pegboard.config.models import marked_fields
from pegboard.hookspecs import register_stores
from pegboard.loading.plugins import SECTION_OF_KIND, LoadedPlugin
from pegboard.names import nearest
from pegboard.plugin.origin import Origin
from pegboard.plugin.stores import Store, StoreName
from pegboard.records import NamedTuple

StoreKey = tuple[type[Any], str]
"""The contract and the name of a store."""


class SelectedStore(NamedTuple):
    """A store that a setting selects, and the plugin that offers it."""

    origin: Origin
    store: Store


Stores = Mapping[StoreKey, SelectedStore]


class _Setting(NamedTuple):
    """A setting that names a store."""

    path: tuple[str, str, str]
    contract: type[Any]
    name: str
    default: Any


def offered_stores(plugins: Sequence[LoadedPlugin]) -> Iterator[tuple[StoreKey, SelectedStore]]:
    """Yield every store that a plugin offers, by its contract and name."""
    for plugin in plugins:
        for store in plugin.contributed(register_stores):
            yield (store.contract, store.name or plugin.origin.name), SelectedStore(plugin.origin, store)


def select_stores(
    config: HostConfig,
    plugins: Sequence[LoadedPlugin],
    offered: Stores,
    absent: Collection[str],
    *,
    fall_back: bool = False,
) -> tuple[Stores, list[ConfigProblem]]:
    """Return the selected stores, and a problem for each setting that names an unknown store.

    Args:
        config: the configuration, with the source of each setting.
        plugins: the enabled plugins.
        offered: the stores to select from.
        absent: the names of plugins that are installed but not enabled.
        fall_back: True to select the setting's default if the named store is not offered.
    """
    selected: dict[StoreKey, SelectedStore] = {}
    problems: list[ConfigProblem] = []
    for setting in (setting for plugin in plugins for setting in _settings(plugin)):
        store = offered.get((setting.contract, setting.name))
        if store is None and fall_back:
            store = offered.get((setting.contract, setting.default))
        if store is None:
            problems.append(_unknown(config, setting, offered, absent))
        else:
            selected[setting.contract, setting.name] = store
    return selected, problems


def _settings(plugin: LoadedPlugin) -> Iterator[_Setting]:
    settings = plugin.context.config
    for key, field, mark in marked_fields(type(settings), StoreName) if settings is not None else ():
        if (name := getattr(settings, key)) is not None:
            path = (SECTION_OF_KIND[plugin.origin.kind], plugin.origin.name, key)
            yield _Setting(path, mark.contract, name, field.default)


def _unknown(config: HostConfig, setting: _Setting, offered: Stores, absent: Collection[str]) -> ConfigProblem:
    names = [name for contract, name in offered if contract is setting.contract]
    message = f"no running plugin offers a {setting.contract.__name__} named {setting.name!r}"
    if setting.name in absent:
        return config.problem(
            f"{message}; the plugin of this name does not run: add a section [plugins.{setting.name}]", setting.path
        )
    message += "; name a plugin that offers one, or remove the setting"
    return config.problem(message, setting.path, nearest(setting.name, names))
