"""The order in which error adapters are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pegboard.hookspecs import register_error_adapters
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard.types.authorization import AuthProvider


class ErrorChain:
    """The error adapters of one host, in order.

    Args:
        plugins: the enabled plugins, sorted by name.
        order: the names of the plugins whose adapters come first.

    Attributes:
        common: the adapters for functions that have no adapters of their own.
    """

    def __init__(self, plugins: Sequence[LoadedPlugin], order: Sequence[str]) -> None:
        self._plugins = plugins
        places = {name: place for place, name in enumerate(order)}
        ordered = sorted(plugins, key=lambda plugin: places.get(plugin.origin.name, len(order)))
        adapters = [adapter for plugin in ordered for adapter in plugin.contributed(register_error_adapters)]
        self.common = tuple(sorted(adapters, key=lambda adapter: adapter.fallback))

    def of(self, own: Iterable[ErrorAdapter], provider: AuthProvider | None) -> tuple[ErrorAdapter, ...]:
        """Return the adapters of the tool, its provider and other plugins, in this order and without duplicates."""
        named = None if provider is None else provider.error_adapters
        plugins = [plugin for plugin in self._plugins if plugin.origin.name == named]
        theirs = [adapter for plugin in plugins for adapter in plugin.contributed(register_error_adapters)]
        return tuple({id(adapter): adapter for adapter in (*own, *theirs, *self.common)}.values())
