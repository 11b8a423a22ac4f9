"""The lists of one assembly, filtered for each caller by middleware, scopes and needs, and cached."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from pegboard.calls.served_item import ServedItem
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.pages import ListKind, Pages, has_only_host_values, may_use, place_in_list
from pegboard.errors import NotFoundError
from pegboard.middleware.chain import LIST_HOOKS, LinkMethod, MiddlewareLink
from pegboard.middleware.gate import listed_name
from pegboard.middleware.time_limit import MiddlewareFault, MiddlewareTime
from pegboard.types.callers import Supplied
from pegboard.types.calls import Call, CallNext, Failure, Listing, Outcome
from pegboard.types.catalogue import Change, ResourceTemplate

LIST_METHODS: dict[ListKind, str] = dict(zip(("tools", "resources", "templates", "prompts"), LIST_HOOKS, strict=True))
"""The method that lists each kind."""

MAX_CACHED_CALLERS = 1000
"""The maximum number of cached lists. The oldest list is removed first."""


class CallerLists:
    """The lists of one kind: one for all callers, or filtered for each caller.

    Callers with the same items share the pages, and so the encoded forms that protocols cache. Two concurrent calls may
    both create the list.

    Args:
        kind: the kind of items.
        whole: a function that returns all items for a call, by name, sorted.
        links: the middleware around the list, outermost first.
        page_size: the maximum number of items of a page.
        key: a function that returns the properties of a call on which the list depends, besides middleware.
        time: limits the time of middleware.
        private: True if other callers may see another list.
    """

    def __init__(
        self,
        kind: ListKind,
        whole: Callable[[Call], dict[str, Any]],
        links: Sequence[MiddlewareLink],
        page_size: int,
        key: Callable[[Call], Hashable],
        time: MiddlewareTime,
        private: bool,
    ) -> None:
        self._time = time
        self._private = private
        self._key = _key_of(links, key)
        self._kind = kind
        self._whole = whole
        self._links = links
        self._page_size = page_size
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


class Lists:
    """The lists of one assembly.

    Args:
        assembly: the assembly.
        page_size: the maximum number of items of a page.
        before: the lists of the previous assembly. Unchanged lists are reused.
        time: limits the time of middleware.
    """

    def __init__(self, assembly: Assembly, page_size: int, before: Lists | None, time: MiddlewareTime) -> None:
        self._time = time
        self._assembly = assembly
        self._page_size = page_size
        self._lists: dict[ListKind, CallerLists] = {}
        for kind in LIST_METHODS:
            if before is not None and before._items_of(kind) is self._items_of(kind):
                self._lists[kind] = before._lists[kind]
            else:
                self._lists[kind] = self._made(kind)

    def method(self, kind: ListKind) -> CallNext:
        """Return the method that lists one kind."""
        return self._lists[kind].page

    async def with_similar_tool(self, error: BaseException, call: Call) -> BaseException:
        """Return the error of a call. If the tool is unknown, it names the closest tool that the caller may list."""
        if not isinstance(error, NotFoundError) or call.method != "tools/call":
            return error
        from pegboard.catalogue.similar_tools import with_similar_tool  # most calls are of known tools

        return await with_similar_tool(error, call, self.method("tools"))

    def forget(self, change: Change) -> None:
        """Discard the cached results of middleware for a changed list."""
        for kind in ("resources", "templates") if change.kind == "resources" else (change.kind,):
            if kind in self._lists:
                self._lists[kind].forget()

    def _items_of(self, kind: ListKind) -> Mapping[str, ServedItem]:
        return self._assembly.items("resources" if kind == "templates" else kind)

    def _made(self, kind: ListKind) -> CallerLists:
        hook = LIST_HOOKS[LIST_METHODS[kind]]
        links = [link for link in self._assembly.middleware if link.overrides(hook)]
        tools = self._assembly.tools.values() if kind == "tools" else ()
        named = frozenset[str]().union(*(tool.requirements.scopes for tool in tools))
        key: Callable[[Call], Hashable] = _same_for_all
        if named or links:
            key = partial(_by_scopes, named)
        elif any(tool.requirements.needs for tool in tools):
            key = has_only_host_values
        private = bool(named or links)
        return CallerLists(kind, partial(self._whole, kind), links, self._page_size, key, self._time, private)

    def _whole(self, kind: ListKind, call: Call) -> dict[str, Any]:
        """Return all items for a call, by name."""
        if kind == "tools":
            is_limited = has_only_host_values(call)
            return {
                name: bound.tool
                for name, bound in self._assembly.tools.items()
                if may_use(call.caller, bound)
                and call.allows(bound.requirements.scopes)
                and not (is_limited and bound.requirements.needs)
            }
        return {name: bound.item for name, bound in self._items_of(kind).items() if _is_of(kind, bound.item)}


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
