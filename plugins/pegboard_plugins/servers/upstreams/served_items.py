"""The items of one server in the catalogue, and the connections that list them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from pegboard import ToolDefinitionError
from pegboard.plugin import Catalogue, PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types import ItemKind
from pegboard_plugins.servers.upstreams.upstream_lists import RawItem, RawKind, UpstreamLists

MountedDefinition: TypeAlias = ToolDefinition | ResourceDefinition | PromptDefinition
Define: TypeAlias = Callable[[RawKind, RawItem, int], MountedDefinition]
"""Returns the definition of an item at a position. Raises ToolDefinitionError for an item that cannot be served."""

FindOwner: TypeAlias = Callable[[ItemKind, str], str | None]
"""Returns the name of the mounted server that has an item of the catalogue."""

LISTED_AS: Mapping[RawKind, ItemKind] = {
    "tools": "tools",
    "resources": "resources",
    "templates": "resources",
    "prompts": "prompts",
}

ACCEPTED = "accepted"
"""The key of the lists that the operator has accepted. They are served only where no connection lists an item."""
MAX_NAMED_ITEMS = 5
"""The maximum number of items that a line in the log names."""
MAX_NAMED_CHARACTERS = 100
"""The maximum length of a name in the log. Further characters are left out."""

CatalogueChange: TypeAlias = Callable[..., tuple[str, ...]]
"""A method of the catalogue that adds or updates definitions."""


class ItemKey(NamedTuple):
    """The kind of an item, and the server's own name or URI of it."""

    kind: RawKind
    own: str


Items: TypeAlias = Mapping[ItemKey, RawItem]


class CatalogueItem(NamedTuple):
    """An item in the catalogue: as the server lists it, its position in the list, and its name on the wire or URI."""

    raw: RawItem
    place: int
    shown: str


class ServedItems:
    """The items of one server.

    Several connections may list items: one for each user. An item is in the catalogue once. A connection sees it only
    if it lists exactly this definition.

    Args:
        server: the name of the server, for the log.
        catalogue: the catalogue of the plugin.
        define: returns definitions.
        logger: the log.
        owner_of: returns the mounted server that has an item of the catalogue, or None.

    Attributes:
        version: a number that changes with the items, and with their visibility.
    """

    def __init__(
        self, server: str, catalogue: Catalogue, define: Define, logger: logging.Logger, owner_of: FindOwner
    ) -> None:
        self._server = server
        self._catalogue = catalogue
        self._define = define
        self._logger = logger
        self._owner_of = owner_of
        self._listed: dict[Hashable, dict[ItemKey, RawItem]] = {}
        self._served: dict[ItemKey, CatalogueItem] = {}
        self._places: dict[ItemKey, int] = {}
        self._shown: dict[tuple[ItemKind, str], ItemKey] = {}
        self._refused: dict[ItemKey, str] = {}
        self._changing = asyncio.Lock()
        self.version = 0

    @property
    def refused(self) -> Mapping[ItemKey, str]:
        """The items that are not served, with the reasons."""
        return self._refused

    def shown(self, kind: RawKind, own: str) -> str | None:
        """Return the name or URI of an item in the catalogue, or None if the catalogue does not have it."""
        served = self._served.get(ItemKey(kind, own))
        return None if served is None else served.shown

    def tool_names(self) -> Mapping[str, str]:
        """Return the names of the tools in the catalogue, by their names at the server."""
        return {key.own: item.shown for key, item in self._served.items() if key.kind == "tools"}

    def has(self, kind: ItemKind, shown: str) -> bool:
        """Return True if an item of the catalogue comes from this server."""
        return (kind, shown) in self._shown

    def sees(self, holder: Hashable, kind: ItemKind, shown: str) -> bool:
        """Return True if a connection lists an item with its served definition."""
        key = self._shown.get((kind, shown))
        if key is None or (served := self._served.get(key)) is None:
            return False
        return self._listed.get(holder, {}).get(key) == served.raw

    def shown_to(self, holder: Hashable) -> list[str]:
        """Return the names of the tools that a connection lists."""
        served = [*self._served.items()]  # a thread may change it meanwhile
        names = [item.shown for key, item in served if key.kind == "tools"]
        return sorted(name for name in names if self.sees(holder, "tools", name))

    def lists_any(self, holder: Hashable) -> bool:
        """Return True if a connection lists any item."""
        return bool(self._listed.get(holder))

    @property
    def is_changing(self) -> bool:
        """True while a thread changes the catalogue."""
        return self._changing.locked()

    async def settled_version(self) -> int:
        """Return the version after the change that is under way."""
        async with self._changing:
            return self.version

    async def begin(self, holder: Hashable) -> None:
        """Note a connection that lists nothing yet, so that clients hear of its first list."""
        if holder not in self._listed:
            await self.publish(holder, UpstreamLists())

    async def publish(self, holder: Hashable, lists: UpstreamLists) -> None:
        """Serve the lists of a connection, in place of its previous lists.

        Args:
            holder: the key of the connection.
            lists: its lists.
        """
        now = {
            ItemKey(kind, own): raw for kind, items in zip(LISTED_AS, lists, strict=True) for own, raw in items.items()
        }
        await asyncio.shield(self._replace(holder, now))  # a change is completed even if the connection ends

    async def forget(self, holder: Hashable) -> None:
        """Remove the lists of a connection, and the items that no other connection lists."""
        await asyncio.shield(self._replace(holder, None))

    async def _replace(self, holder: Hashable, now: Items | None) -> None:
        async with self._changing:
            before = self._listed.pop(holder, None)
            if now is not None:
                now = self._listed[holder] = {key: self._shared(key, raw) for key, raw in now.items()}
                self._arrange(holder, now)
            # a client need not hear that its connection makes room for another: its next list opens a new one
            is_heard = not (before is None or now is None or holder == ACCEPTED)
            await self._change(before or {}, now or {}, is_heard=is_heard)
            self._report_changes(before or {}, now or {})

    def _report_changes(self, before: Items, now: Items) -> None:
        """Log the definitions that the server has changed, because it may have hidden its intentions at first."""
        changed = [key for key, raw in now.items() if key in before and before[key] != raw]
        if not changed:
            return
        shown = [
            f"{key.kind.removesuffix('s')} {key.own[:MAX_NAMED_CHARACTERS]!r}" for key in changed[:MAX_NAMED_ITEMS]
        ]
        more = f" and {len(changed) - len(shown)} more" if len(changed) > len(shown) else ""
        self._logger.warning("%s: the server has changed the definition of %s%s", self._server, ", ".join(shown), more)

    def _arrange(self, holder: Hashable, items: Items) -> None:
        """Give items their positions: those in the server's list, if this connection alone lists items."""
        is_only = self._listed.keys() <= {holder, ACCEPTED}
        for kind in LISTED_AS:
            keys = [key for key in items if key.kind == kind]
            free = 1 + max((place for key, place in self._places.items() if key.kind == kind), default=-1)
            places = [self._places.get(key, free + number) for number, key in enumerate(keys)]
            if is_only and places != sorted(places):
                places = list(range(len(keys)))
            self._places.update(zip(keys, places, strict=True))

    def _shared(self, key: ItemKey, raw: RawItem) -> RawItem:
        """Return the served definition if clients see no difference to an item, so that users share the memory."""
        served = self._served.get(key)
        if served is None or (served.raw != raw and _with_values(served.raw) != _with_values(raw)):
            return raw
        return served.raw

    async def _change(self, before: Items, now: Items, *, is_heard: bool) -> None:
        """Apply the difference to the catalogue, in a thread because lists may be long."""
        changed = [key for key in {**before, **now} if before.get(key) != now.get(key) or not self._is_placed(key)]
        wanted = {key: self._wanted(key) for key in changed}
        removed = [key for key, raw in wanted.items() if raw is None]
        added = {key: raw for key, raw in wanted.items() if raw is not None and key not in self._served}
        kept = {key: raw for key, raw in wanted.items() if raw is not None and key in self._served}
        updated = {key: raw for key, raw in kept.items() if raw != self._served[key].raw or not self._is_placed(key)}
        if is_heard:  # only the view of this connection changes, and its client must hear of it
            for kind in {key.kind for key in kept} - {key.kind for key in (*removed, *added, *updated)}:
                updated |= dict([next((key, raw) for key, raw in kept.items() if key.kind == kind)])
        if removed or updated or added:
            await asyncio.to_thread(self._apply, removed, updated, added)
        for key in removed:
            self._places.pop(key, None)
        self.version += 1

    def _is_placed(self, key: ItemKey) -> bool:
        """Return True if an item is served at its position."""
        return key in self._served and self._served[key].place == self._places.get(key)

    def _wanted(self, key: ItemKey) -> RawItem | None:
        """Return the definition to serve: the served definition while a connection lists it, else the first listed."""
        served = self._served.get(key)
        first = None
        accepted = self._listed.get(ACCEPTED, {})
        for items in self._listed.values():
            if items is not accepted and (raw := items.get(key)) is not None:
                if served is None or raw == served.raw:
                    return raw
                first = raw if first is None else first
        return accepted.get(key) if first is None else first

    # --- the catalogue

    def _apply(self, removed: Iterable[ItemKey], updated: Items, added: Items) -> None:
        self._remove(removed)
        self._put(self._catalogue.update, self._defined(updated))
        self._put(self._catalogue.add, self._defined(added))

    def _defined(self, items: Items) -> list[tuple[ItemKey, RawItem, MountedDefinition]]:
        """Return the definitions of items. Report and remove those that cannot be served."""
        defined = []
        for key, raw in items.items():
            try:
                defined.append((key, raw, self._define(key.kind, raw, self._places[key])))
            except ToolDefinitionError as error:
                self._refuse(key, str(error))
        return defined

    def _put(self, change: CatalogueChange, entries: Sequence[tuple[ItemKey, RawItem, MountedDefinition]]) -> None:
        """Add or update items in one change. If one is invalid, find it by halves and serve the others."""
        if not entries:
            return
        before = [self._served.get(key) for key, _, _ in entries]
        for key, raw, definition in entries:  # first, so that a gate knows the items when the change begins
            self._register(key, CatalogueItem(raw, self._places[key], _expected_name(definition)))
        try:
            names = change(*(definition for _, _, definition in entries))
        except ToolDefinitionError as error:
            for (key, _, _), served in zip(entries, before, strict=True):
                self._register(key, served)
            if len(entries) == 1:
                key, _, definition = entries[0]
                self._refuse(key, self._clash(key, _expected_name(definition)) or str(error))
                return
            half = len(entries) // 2
            self._put(change, entries[:half])
            self._put(change, entries[half:])
            return
        for (key, raw, _), shown in zip(entries, names, strict=True):
            self._refused.pop(key, None)
            self._register(key, CatalogueItem(raw, self._places[key], shown))

    def _register(self, key: ItemKey, item: CatalogueItem | None) -> None:
        """Record how an item is served. Pass None for an item that is no longer served."""
        if (before := self._served.pop(key, None)) is not None:
            place = LISTED_AS[key.kind], before.shown
            if self._shown.get(place) == key:
                del self._shown[place]
        if item is not None:
            self._served[key] = item
            self._shown.setdefault((LISTED_AS[key.kind], item.shown), key)

    def _clash(self, key: ItemKey, shown: str) -> str | None:
        """Return the problem if another item of a mounted server has the name or URI of an item."""
        kind = LISTED_AS[key.kind]
        owner = self._owner_of(kind, shown)
        if owner is None or self._shown.get((kind, shown)) == key:
            return None
        fix = "exclude one of them" if kind == "resources" else "set prefix or rename, or exclude one of them"
        return f"the server {owner!r} has {shown!r} already; {fix}"

    def _refuse(self, key: ItemKey, problem: str) -> None:
        """Report an item that cannot be served, and remove its former definition."""
        reported = self._refused.get(key)
        self._remove((key,))
        self._refused[key] = problem
        if reported != problem:
            what = key.kind.removesuffix("s")
            self._logger.warning("%s: %s %.100r is not served: %s", self._server, what, key.own, problem)

    def _remove(self, keys: Iterable[ItemKey]) -> None:
        removed: dict[ItemKind, list[ItemKey]] = {}
        for key in keys:
            self._refused.pop(key, None)
            if key in self._served:
                removed.setdefault(LISTED_AS[key.kind], []).append(key)
        for kind, of_kind in removed.items():
            try:
                self._catalogue.remove(kind, *(self._served[key].shown for key in of_kind))
            except ToolDefinitionError as error:
                self._logger.error("%s: %s cannot be removed: %s", self._server, kind, error)
            for key in of_kind:
                self._register(key, None)


def _with_values(raw: RawItem) -> RawItem:
    """Return the members of an object that have a value. `pegboard.lock` has no others."""
    return {name: member for name, member in raw.items() if member not in (None, "", [], {})}


def _expected_name(definition: MountedDefinition) -> str:
    return definition.uri if isinstance(definition, ResourceDefinition) else definition.name or ""
