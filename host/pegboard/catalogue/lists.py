"""The lists of one assembly, filtered for each caller by middleware, scopes and needs, and cached."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.pages import Pages, has_only_host_values, may_use, place_in_list
from pegboard.middleware.chain import LIST_HOOKS, LinkMethod, MiddlewareLink
from pegboard.middleware.gate import ListKind, item_kind, listed_name
from pegboard.middleware.time_limit import MiddlewareFault, MiddlewareTime
from pegboard.types.callers import Supplied
from pegboard.types.calls import Call, CallNext, Failure, Listing, Outcome
from pegboard.types.catalogue import ResourceTemplate

LIST_METHODS: dict[ListKind, str] = dict(zip(("tools", "resources", "templates", "prompts"), LIST_HOOKS, strict=True))
"""The method that lists each kind."""

MAX_CACHED_CALLERS = 1000
"""The maximum number of cached lists. The oldest list is removed first."""


class CallerLists:
    """The lists of one kind of items of an assembly: one for all callers, or filtered for each caller.

    Callers with the same items share the pages, and so the encoded forms that protocols cache. Two concurrent calls may
    both create the list.

    Args:
        assembly: the assembly.
        kind: the kind of items.
        page_size: the maximum number of items of a page.
        time: limits the time of middleware.

    Attributes:
        items: the items of the assembly by name, sorted. Resources and templates are together.
    """

    def __init__(self, assembly: Assembly, kind: ListKind, page_size: int, time: MiddlewareTime) -> None:
        self.items = assembly.items(item_kind(kind))
        self._kind = kind
        self._page_size = page_size
        self._time = time
        hook = LIST_HOOKS[LIST_METHODS[kind]]
        self._links = [link for link in assembly.middleware if link.overrides(hook)]
        tools = assembly.tools.values() if kind == "tools" else ()
        named = frozenset[str]().union(*(tool.requirements.scopes for tool in tools))
        self._private = bool(named or self._links)
        own: Callable[[Call], Hashable] = _same_for_all
        if self._private:
            own = partial(_by_scopes, named)
        elif any(tool.requirements.needs for tool in tools):
            own = has_only_host_values
        self._key = _key_of(self._links, own)
        self._made: dict[Hashable, Pages] = {}
        self._shared: WeakValueDictionary[tuple[int, ...], Pages] = WeakValueDictionary()

    async def page(self, call: Call) -> Outcome:
        """Return the requested page."""
        key = self._key(call)
        return (self._made.get(key) or await self._make(key, call)).page(call)

    def forget(self) -> None:
        """Discard the cached list. The next request creates it again."""
        self._made = {}

    async def _make(self, key: Hashable, request: Call) -> Pages:
        made, method = self._made, LIST_METHODS[self._kind]
        supplied = None if request.supplied is None else Supplied()
        call = Call(method, caller=request.caller._replace(expires_at=None), supplied=supplied)
        whole = self._whole(request)
        handler = _giving(Listing(self._kind, tuple(whole.values()), private=self._private))
        hook = LIST_HOOKS[method]
        for link in reversed(self._links):
            blame, handle = link.blame(hook), getattr(link.middleware, hook)
            around = LinkMethod(blame, handle, handler, method, None, self._time).run
            handler = _checked(blame, around, whole)
        listing = await handler(call)
        assert isinstance(listing, Listing)
        pages = self._pages(listing)
        if len(made) >= MAX_CACHED_CALLERS:
            del made[next(iter(made))]
        made[key] = pages
        return pages

    def _whole(self, call: Call) -> dict[str, Any]:
        """Return all items for a call, by name."""
        if self._kind == "tools":
            is_limited = has_only_host_values(call)
            return {
                name: bound.tool
                for name, bound in self.items.items()
                if may_use(call.caller, bound)
                and call.allows(bound.requirements.scopes)
                and not (is_limited and bound.requirements.needs)
            }
        return {name: bound.item for name, bound in self.items.items() if _is_of(self._kind, bound.item)}

    def _pages(self, listing: Listing) -> Pages:
        items = sorted(listing.items, key=place_in_list)
        key = tuple(map(id, items))
        pages = self._shared.get(key)
        if pages is None:
            pages = Pages(self._kind, items, self._page_size, private=self._private)
            self._shared[key] = pages
        return pages


def _key_of(links: Sequence[MiddlewareLink], own: Callable[[Call], Hashable]) -> Callable[[Call], Hashable]:
    """Return a function that computes the properties of a call that a list and its middleware depend on."""
    if not all(link.overrides("view") for link in links):
        return lambda call: (own(call), _by_caller(call))
    views = (own, *[link.middleware.view for link in links])
    return (lambda call: tuple([view(call) for view in views])) if links else own


def _by_caller(call: Call) -> Hashable:
    """Return all properties of a caller except the expiry time of its token, because no list depends on it."""
    caller = call.caller
    extra = repr(dict(caller.extra)) if caller.extra else ""  # its values may be unhashable
    return (*caller._replace(expires_at=None, extra=None), extra, call.supplied is None)


def _giving(listing: Listing) -> CallNext:
    async def give(call: Call) -> Outcome:
        return listing

    return give


def _checked(blame: str, around: CallNext, whole: dict[str, Any]) -> CallNext:
    """Return a link that checks the list of its middleware. Middleware may only remove or replace items."""
    types = {type(item) for item in whole.values()}

    async def check(call: Call) -> Outcome:
        listing = await around(call)
        if isinstance(listing, Failure):
            raise listing.error
        if not isinstance(listing, Listing):
            raise MiddlewareFault(f"{blame} returned {type(listing).__name__}, not a Listing")
        seen: set[str] = set()
        for item in listing.items:
            if type(item) not in types:
                raise MiddlewareFault(
                    f"{blame} returned a list with an item of type {type(item).__name__}, which is not allowed"
                )
            name = listed_name(item)
            if name not in whole or name in seen:
                raise MiddlewareFault(f"{blame} lists {name!r}{' twice' if name in seen else ', which does not exist'}")
            seen.add(name)
        return listing

    return check


Lists: TypeAlias = Mapping[ListKind, CallerLists]
"""The lists of one assembly."""


def lists_of(assembly: Assembly, page_size: int, before: Lists, time: MiddlewareTime) -> Lists:
    """Return the lists of an assembly. Lists of an earlier assembly with the same items are reused."""
    lists: dict[ListKind, CallerLists] = {}
    for kind in LIST_METHODS:
        own = before.get(kind)
        if own is None or own.items is not assembly.items(item_kind(kind)):
            own = CallerLists(assembly, kind, page_size, time)
        lists[kind] = own
    return lists


def _same_for_all(call: Call) -> Hashable:
    return None


def _by_scopes(named: frozenset[str], call: Call) -> Hashable:
    """Return the properties of a call on which the list depends: the scopes that tools require, and its channel."""
    if not call.caller.is_known:
        return None
    return named if call.allows(named) else call.caller.scopes & named, has_only_host_values(call)


def _is_of(kind: ListKind, item: Any) -> bool:
    """Return True if an item belongs to a list of the given kind. An assembly stores templates among resources."""
    return kind == "prompts" or isinstance(item, ResourceTemplate) == (kind == "templates")
