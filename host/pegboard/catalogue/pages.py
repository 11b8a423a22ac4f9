"""One list in pages, sorted by name. The items of a mounted server keep their order."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from pegboard.calls.served_item import ServedItem
from pegboard.errors import ProtocolError
from pegboard.middleware.gate import ListKind, item_kind, listed_name
from pegboard.types.callers import Caller
from pegboard.types.calls import Call, Listing
from pegboard.types.catalogue import ItemKind, Prompt, Resource, ResourceTemplate, Tool
from pegboard.wire.meta_keys import INVALID_PARAMS

_SEPARATOR = "\0"
"""Names and URIs do not contain it."""


def may_use(caller: Caller, bound: ServedItem) -> bool:
    """Return True if a caller can see a tool. Callers without a token cannot see tools that require scopes."""
    return caller.is_known or not bound.requirements.scopes


def has_only_host_values(call: Call) -> bool:
    """Return True for the operator on a message stream, such as stdio. These calls bring no secrets and no tokens."""
    return call.caller.trusted and call.supplied is None and call.headers is None and call.transport != ""


def may_find(caller: Caller, bound: ServedItem) -> bool:
    """Return True if a caller can see a tool and has its scopes."""
    return may_use(caller, bound) and caller.allows(bound.requirements.scopes)


PlaceInList: TypeAlias = tuple[str, int, str]
"""The position of an item in its list: its name, 0 and its name; or its owner, its place and its name."""


def place_in_list(item: Tool | Resource | ResourceTemplate | Prompt) -> PlaceInList:
    """Return the position of an item in its list."""
    name = listed_name(item)
    return (name, 0, name) if item.place is None else (item.owner, item.place, name)


class Pages:
    """The pages of one list.

    A cursor contains the kind and the position of the last item of a page, so that any instance can continue.

    Args:
        kind: the kind of items.
        items: the items, sorted by `place_in_list`.
        size: the maximum number of items on a page.
        private: True if other callers may see another list.
    """

    def __init__(self, kind: ListKind, items: Sequence[Any], size: int, *, private: bool) -> None:
        self._kind = kind
        self._places = [place_in_list(item) for item in items]
        self._items = items
        self._size = size
        self._private = private
        self._parts: WeakKeyDictionary[Callable[[ItemKind, str], bool], Pages] = WeakKeyDictionary()
        self._whole_pages = {start: self._page(start) for start in range(0, max(len(items), 1), size)}

    def page(self, call: Call) -> Listing:
        """Return the requested page of the items that the client of the call can use (`Call.serves`).

        Raises:
            ProtocolError: the cursor is invalid, or belongs to another list.
        """
        return (self if call.serves is None else self._part(call.serves))._at(call.params.get("cursor"))

    def _part(self, serves: Callable[[ItemKind, str], bool]) -> Pages:
        """Return the pages of the items that a function selects. They are kept for the next call."""
        part = self._parts.get(serves)
        if part is None:
            kind = item_kind(self._kind)
            items = [item for item in self._items if serves(kind, listed_name(item))]
            part = self._parts[serves] = Pages(self._kind, items, self._size, private=self._private)
        return part

    def _at(self, cursor: object) -> Listing:
        start = 0 if cursor is None or cursor == "" else bisect_right(self._places, _decoded(self._kind, cursor))
        return self._whole_pages.get(start) or self._page(start)

    def _page(self, start: int) -> Listing:
        end = start + self._size
        following = _encoded(self._kind, self._places[end - 1]) if end < len(self._places) else None
        return Listing(self._kind, tuple(self._items[start:end]), following, private=self._private)


def _encoded(kind: ListKind, place: PlaceInList) -> str:
    owner, number, name = place
    last = name if owner == name else _SEPARATOR.join((owner, str(number), name))
    return base64.urlsafe_b64encode(f"{kind}:{last}".encode()).decode()


def _decoded(kind: ListKind, cursor: object) -> PlaceInList:
    try:
        if isinstance(cursor, str):
            of, _, last = base64.b64decode(cursor, b"-_", validate=True).decode().partition(":")
            if of == kind and last:
                owner, number, name = last.split(_SEPARATOR) if last.count(_SEPARATOR) == 2 else (last, "0", last)
                return owner, int(number), name
    except (binascii.Error, ValueError):
        pass
    raise ProtocolError(INVALID_PARAMS, "params.cursor is not one of this list's cursors")
