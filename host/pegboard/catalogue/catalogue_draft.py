"""A change of an assembly by one plugin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pegboard.calls.served_item import SINGULAR, ServedItem, Unserved
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.binding import BindResult
from pegboard.errors import ToolDefinitionError
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.origin import Origin
from pegboard.types.catalogue import ItemKind


class CatalogueDraft:
    """One atomic change of an assembly by one plugin.

    Attributes:
        changed: the kinds that have changed.
    """

    def __init__(self, assembly: Assembly, plugin: LoadedPlugin) -> None:
        self.changed: set[ItemKind] = set()
        self._before = assembly
        self._origin = plugin.origin
        self._items: dict[ItemKind, dict[str, ServedItem]] = {}
        self._unserved = {unserved[:3]: unserved for unserved in assembly.unserved}

    def add(self, result: BindResult) -> None:
        if isinstance(result, Unserved):
            self._unserved[result[:3]] = result
            return
        what = f"{SINGULAR[result.kind]} {result.name!r}"
        if owner := self._owner(result.kind, result.name):
            advice = "use update to replace it" if owner == self._origin else "use another name"
            raise ToolDefinitionError(f"{what} exists already, from {owner}; {advice}")
        if result.name in self._before.contested[result.kind]:
            raise ToolDefinitionError(f"{what} is claimed by two other plugins and not served: use another name")
        self._put(result)

    def update(self, result: BindResult) -> None:
        self.remove(result.kind, (result.name,))
        if isinstance(result, Unserved):
            self._unserved[result[:3]] = result
        else:
            self._put(result)

    def replace_all(self, results: Iterable[BindResult]) -> None:
        """Replace all items of the plugin."""
        for kind in SINGULAR:
            for name in [name for name, item in self._before.items(kind).items() if item.origin == self._origin]:
                self.remove(kind, (name,))
        self._unserved = {
            key: unserved for key, unserved in self._unserved.items() if unserved.owner != self._origin.name
        }
        for result in results:
            self.add(result)

    def remove(self, kind: ItemKind, names: tuple[str, ...]) -> None:
        """Remove the first of these names that is an item of the plugin.

        Raises:
            ToolDefinitionError: none of the names is an item of the plugin.
        """
        for name in names:
            if self._owner(kind, name) == self._origin:
                self._touch(kind)
                del self._items[kind][name]
                return
            if self._unserved.pop((kind, name, self._origin.name), None) is not None:
                return
        what = f"{SINGULAR[kind]} {names[0]!r}"
        if owner := self._owner(kind, names[0]):
            raise ToolDefinitionError(f"{what} is from {owner}, and only that plugin can change it")
        raise ToolDefinitionError(f"there is no {what} of {self._origin}")

    def _put(self, item: ServedItem) -> None:
        self._touch(item.kind)
        self._items[item.kind][item.name] = item
        self._unserved.pop((item.kind, item.name, item.origin.name), None)

    def _owner(self, kind: ItemKind, name: str) -> Origin | None:
        item = self._items.get(kind, self._before.items(kind)).get(name)
        return None if item is None else item.origin

    def _touch(self, kind: ItemKind) -> None:
        if kind not in self.changed:
            self.changed.add(kind)
            self._items[kind] = dict(self._before.items(kind))

    def assembly(self) -> Assembly:
        """Return the assembly after the change, sorted by name."""
        items: dict[str, Any] = {kind: dict(sorted(items.items())) for kind, items in self._items.items()}
        return self._before._replace(**items, unserved=tuple(self._unserved.values()))
