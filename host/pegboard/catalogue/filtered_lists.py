"""Lists that middleware or scopes filter, cached by caller."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from pegboard.catalogue.pages import ListKind, Pages, place_in_list
from pegboard.middleware.chain import LIST_HOOKS, LinkMethod, MiddlewareLink
from pegboard.middleware.gate import listed_name
from pegboard.middleware.time_limit import MiddlewareFault, MiddlewareTime
from pegboard.types.callers import Supplied
from pegboard.types.calls import Call, CallNext, Failure, Listing, Outcome

LIST_METHODS: dict[ListKind, str] = dict(zip(("tools", "resources", "templates", "prompts"), LIST_HOOKS, strict=True))
"""The method that lists each kind."""

MAX_CACHED_CALLERS = 1000
"""The maximum number of cached lists. The oldest list is removed first."""


class FilteredList:
    """A list that is filtered for each caller.

    Callers with the same items share the pages, and so the encoded forms that protocols cache. Two concurrent calls may
    both create the list.

    Args:
        kind: the kind of items.
        whole: a function that returns all items for a call, by name, sorted.
        links: the middleware, outermost first.
        page_size: the maximum number of items of a page.
        key: a function that returns the properties of a call on which the list depends, besides middleware.
        before: the previous list.
        time: limits the time of middleware.
    """

    def __init__(
        self,
        kind: ListKind,
        whole: Callable[[Call], dict[str, Any]],
        links: Sequence[MiddlewareLink],
        page_size: int,
        key: Callable[[Call], Hashable],
        before: FilteredList | None,
        time: MiddlewareTime,
    ) -> None:
        self._time = time
        self._key = _key_of(kind, links, key)
        self._kind = kind
        self._whole = whole
        self._links = links
        self._page_size = page_size
        self._made: dict[Hashable, Pages] = {}
        self._before = before._made if before is not None else {}
        self._shared: WeakValueDictionary[tuple[int, ...], Pages] = WeakValueDictionary()

    async def page(self, call: Call) -> Outcome:
        """Return the requested page."""
        key = self._key(call)
        return (self._made.get(key) or await self._make(key, call)).page(call)

    def forget(self) -> None:
        """Discard the cached list. The next request creates it again."""
        self._before = self._made
        self._made = {}

    async def _make(self, key: Hashable, request: Call) -> Pages:
        made, method = self._made, LIST_METHODS[self._kind]
        supplied = None if request.supplied is None else Supplied()
        call = Call(method, caller=request.caller._replace(expires_at=None), supplied=supplied)
        whole = self._whole(request)
        handler = _giving(Listing(self._kind, tuple(whole.values()), private=True))
        for link in reversed(self._links):
            hook = LIST_HOOKS[method]
            if link.overrides(hook):
                blame, handle = link.blame(hook), getattr(link.middleware, hook)
                around = LinkMethod(blame, handle, handler, method, None, self._time).run
                handler = _checked(blame, around, whole)
        listing = await handler(call)
        assert isinstance(listing, Listing)
        pages = self._pages(listing, self._before.get(key))
        if len(made) >= MAX_CACHED_CALLERS:
            del made[next(iter(made))]
        made[key] = pages
        return pages

    def _pages(self, listing: Listing, before: Pages | None) -> Pages:
        items = sorted(listing.items, key=place_in_list)
        key = tuple(map(id, items))
        pages = self._shared.get(key)
        if pages is None:
            pages = Pages(self._kind, items, self._page_size, private=True, before=before)
            self._shared[key] = pages
        return pages


def _key_of(
    kind: ListKind, links: Sequence[MiddlewareLink], own: Callable[[Call], Hashable]
) -> Callable[[Call], Hashable]:
    """Return a function that computes the properties of a call that a list and its middleware depend on."""
    around = [link for link in links if link.overrides(LIST_HOOKS[LIST_METHODS[kind]])]
    if not all(link.overrides("view") for link in around):
        return lambda call: (own(call), _by_caller(call))
    views = (own, *[link.middleware.view for link in around])
    return (lambda call: tuple([view(call) for view in views])) if around else own


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
                raise MiddlewareFault(
                    f"{blame} lists {name!r}, which is {'there twice' if name in seen else 'not there'}"
                )
            seen.add(name)
        return listing

    return check
