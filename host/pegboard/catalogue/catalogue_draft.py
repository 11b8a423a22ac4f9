"""A change of an assembly by one plugin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.bound_definitions import SINGULAR, BindResult, BoundDefinition, Unserved
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
        self._items: dict[ItemKind, dict[str, Any]] = {}
        self._origins: dict[ItemKind, dict[str, Origin]] = {}
        self._forms: dict[str, frozenset[str]] = {}
        self._unserved = {unserved[:3]: unserved for unserved in assembly.unserved}

    def add(self, result: BindResult) -> None:
        if isinstance(result, Unserved):
            self._unserved[result[:3]] = result
            return
        what = f"{SINGULAR[result.field]} {result.name!r}"
        if owner := self._owner(result.field, result.name):
            advice = "use update to replace it" if owner == self._origin else "use another name"
            raise ToolDefinitionError(f"{what} exists already, from {owner}; {advice}")
        if result.name in self._before.contested[result.field]:
            raise ToolDefinitionError(f"{what} is claimed by two other plugins and not served: use another name")
        self._put(result)

    def update(self, result: BindResult) -> None:
        self.remove(result.kind if isinstance(result, Unserved) else result.field, (result.name,))
        if isinstance(result, Unserved):
            self._unserved[result[:3]] = result
        else:
            self._put(result)

    def replace_all(self, results: Iterable[BindResult]) -> None:
        """Replace all items of the plugin."""
        for field, origins in self._before.origins.items():
            for name in [name for name, origin in origins.items() if origin == self._origin]:
                self.remove(field, (name,))
        self._unserved = {
            key: unserved for key, unserved in self._unserved.items() if unserved.owner != self._origin.name
        }
        for result in results:
            self.add(result)

    def remove(self, field: ItemKind, names: tuple[str, ...]) -> None:
        """Remove the first of these names that is an item of the plugin.

        Raises:
            ToolDefinitionError: none of the names is an item of the plugin.
        """
        for name in names:
            if self._owner(field, name) == self._origin:
                self._touch(field)
                del self._items[field][name], self._origins[field][name]
                self._forms.pop(name, None)
                return
            if self._unserved.pop((field, name, self._origin.name), None) is not None:
                return
        what = f"{SINGULAR[field]} {names[0]!r}"
        if owner := self._owner(field, names[0]):
            raise ToolDefinitionError(f"{what} is from {owner}, and only that plugin can change it")
        raise ToolDefinitionError(f"there is no {what} of {self._origin}")

    def _put(self, definition: BoundDefinition) -> None:
        self._touch(definition.field)
        self._items[definition.field][definition.name] = definition.item
        self._origins[definition.field][definition.name] = definition.origin
        if definition.field == "tools":
            self._forms[definition.name] = definition.forms
        self._unserved.pop((definition.field, definition.name, definition.origin.name), None)

    def _owner(self, field: ItemKind, name: str) -> Origin | None:
        return self._origins.get(field, self._before.origins[field]).get(name)

    def _touch(self, field: ItemKind) -> None:
        if field not in self.changed:
            self.changed.add(field)
            self._items[field] = dict(getattr(self._before, field))
            self._origins[field] = dict(self._before.origins[field])
            if field == "tools":
                self._forms = dict(self._before.forms)

    def assembly(self) -> Assembly:
        """Return the assembly after the change, sorted by name."""
        fields: dict[str, Any] = {field: _sorted(items) for field, items in self._items.items()}
        if "tools" in self.changed:
            fields["forms"] = self._forms
        origins = {**self._before.origins, **self._origins}
        return self._before._replace(**fields, origins=origins, unserved=tuple(self._unserved.values()))


def _sorted(items: dict[str, Any]) -> dict[str, Any]:
    names = sorted(items)
    return items if names == list(items) else {name: items[name] for name in names}
