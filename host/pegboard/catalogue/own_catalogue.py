"""The catalogue of one plugin, and the resources to which its definitions may refer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pegboard.types.catalogue import ItemKind, Resource

if TYPE_CHECKING:
    from pegboard.catalogue.registry import Registry
    from pegboard.loading.plugins import LoadedPlugin


class OwnCatalogue:
    """The catalogue of one plugin; see `pegboard.plugin.Catalogue`."""

    def __init__(self, registry: Registry, plugin: LoadedPlugin) -> None:
        self._registry = registry
        self._plugin = plugin

    def add(self, *definitions: Any) -> tuple[str, ...]:
        return self._registry.add(self._plugin, definitions)

    def update(self, *definitions: Any) -> tuple[str, ...]:
        return self._registry.update(self._plugin, definitions)

    def remove(self, kind: ItemKind, *names: str) -> None:
        self._registry.remove(self._plugin, kind, names)


class KnownResources(Mapping[str, Resource]):
    """The resources of an assembly, in the form for clients, and the resources about to be added."""

    def __init__(self, served: Mapping[str, tuple[Any, Any]]) -> None:
        self.added: dict[str, Resource] = {}
        self._served = served

    def __getitem__(self, uri: str) -> Resource:
        return self.added[uri] if uri in self.added else self._served[uri][0]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._served, **self.added})

    def __len__(self) -> int:
        return len({**self._served, **self.added})
