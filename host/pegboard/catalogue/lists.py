"""The lists of one assembly, filtered for each caller."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from functools import partial
from typing import Any

from pegboard.calls.served_item import ServedItem
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.filtered_lists import LIST_METHODS, FilteredList
from pegboard.catalogue.pages import (
    ListKind,
    Pages,
    has_only_host_values,
    may_use,
    needs_of,
    place_in_list,
    scopes_of,
)
from pegboard.errors import NotFoundError
from pegboard.middleware.chain import LIST_HOOKS
from pegboard.middleware.gate import Gate, listed_name
from pegboard.middleware.time_limit import MiddlewareTime
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.types.callers import LOCAL
from pegboard.types.calls import Call, CallNext, Outcome
from pegboard.types.catalogue import Change, ResourceTemplate


class Lists:
    """The lists of one assembly.

    Args:
        assembly: the assembly.
        page_size: the maximum number of items of a page.
        before: the lists of the previous assembly. Unchanged pages are reused.
        time: limits the time of middleware.
    """

    def __init__(self, assembly: Assembly, page_size: int, before: Lists | None, time: MiddlewareTime) -> None:
        self._time = time
        self._assembly = assembly
        self._page_size = page_size
        self._lists: dict[ListKind, _Plain | FilteredList] = {}
        for kind in LIST_METHODS:
            old = None if before is None else before._lists[kind]
            if before is not None and old is not None and before._items_of(kind) is self._items_of(kind):
                self._lists[kind] = old
            else:
                self._lists[kind] = self._made(kind, old)

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
            entry = self._lists.get(kind)
            if isinstance(entry, FilteredList):
                entry.forget()

    def _items_of(self, kind: ListKind) -> Mapping[str, ServedItem]:
        return self._assembly.items("resources" if kind == "templates" else kind)

    def _made(self, kind: ListKind, before: _Plain | FilteredList | None) -> _Plain | FilteredList:
        middleware, method = self._assembly.middleware, LIST_METHODS[kind]
        whole, old = partial(self._whole, kind), before if isinstance(before, FilteredList) else None
        tools = self._assembly.tools.values() if kind == "tools" else ()
        named = frozenset[str]().union(*map(scopes_of, tools))
        key = partial(_by_scopes, named)
        is_filtered = any(link.overrides(LIST_HOOKS[method]) for link in middleware)
        if is_filtered or named:
            links = middleware if is_filtered else ()
            return FilteredList(kind, whole, links, self._page_size, key, old, self._time)
        of_all = whole(Call(method, caller=LOCAL))
        needy = {bound.tool.name for bound in tools if needs_of(bound)}
        return _Plain(kind, of_all, needy, self._page_size, before if isinstance(before, _Plain) else None)

    def _whole(self, kind: ListKind, call: Call) -> dict[str, Any]:
        """Return all items for a call, by name."""
        if kind == "tools":
            is_limited = has_only_host_values(call)
            return {
                name: bound.tool
                for name, bound in self._assembly.tools.items()
                if may_use(call.caller, bound)
                and call.allows(scopes_of(bound))
                and not (is_limited and needs_of(bound))
            }
        return {name: bound.item for name, bound in self._items_of(kind).items() if _is_of(kind, bound.item)}


def needed_scopes(assembly: Assembly, bound: ServedItem) -> frozenset[str]:
    """Return the scopes that a tool requires of its caller, including scopes that gates require."""
    gates = [link.middleware for link in assembly.middleware if isinstance(link.middleware, Gate)]
    return scopes_of(bound).union(*(gate.asks("tools", bound.tool.name) for gate in gates))


def operator_only_tools(assembly: Assembly) -> list[str]:
    """Return the tools that only the operator can call because no authenticator is configured."""
    if any(authenticator.policy == DEFAULT_POLICY for authenticator in assembly.authenticators):
        return []
    tools = assembly.tools.items()
    return [name for name, bound in tools if bound.requirements is not None and bound.requirements.is_guarded]


def _by_scopes(named: frozenset[str], call: Call) -> Hashable:
    """Return the properties of a call on which the list depends: the scopes that tools require, and its channel."""
    if not call.caller.is_known:
        return None
    return named if call.allows(named) else call.caller.scopes & named, has_only_host_values(call)


class _Plain:
    """A list that is the same for all callers, except for tools that need what the host does not have.

    Args:
        kind: the kind of items.
        whole: the items by name.
        needy: the names of the tools that are not offered if only the host can have their secrets and tokens.
        page_size: the maximum number of items of a page.
        before: the previous list.
    """

    def __init__(
        self, kind: ListKind, whole: dict[str, Any], needy: Collection[str], page_size: int, before: _Plain | None
    ) -> None:
        old, few = (None, None) if before is None else (before._pages, before._offered)
        items = sorted(whole.values(), key=place_in_list)
        self._pages: Pages = Pages(kind, items, page_size, before=old)
        self._offered: Pages = self._pages
        if needy:
            offered = [item for item in items if listed_name(item) not in needy]
            self._offered = Pages(kind, offered, page_size, before=few)

    async def page(self, call: Call) -> Outcome:
        """Return the requested page."""
        return (self._offered if has_only_host_values(call) else self._pages).page(call)


def _is_of(kind: ListKind, item: Any) -> bool:
    """Return True if an item belongs to a list of the given kind. An assembly stores templates among resources."""
    return kind == "prompts" or isinstance(item, ResourceTemplate) == (kind == "templates")
