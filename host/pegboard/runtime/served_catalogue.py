"""The catalogue that a host serves: the current assembly, its lists, and the changes that are announced."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from pegboard.calls.execute import Runtime
from pegboard.calls.failures import told_traceback
from pegboard.catalogue.assembly import Assembly, offered
from pegboard.catalogue.change_listeners import ChangeListeners
from pegboard.catalogue.lists import Lists, lists_of
from pegboard.catalogue.pages import may_find
from pegboard.context import Context
from pegboard.errors import MCPError, ServerError
from pegboard.middleware.gate import Gate, ListKind, hides, item_kind, refused
from pegboard.runtime.dispatcher import Dispatcher
from pegboard.runtime.method_table import method_table
from pegboard.types.callers import EMPTY, Caller
from pegboard.types.calls import Call, Outcome
from pegboard.types.catalogue import Change, ItemKind, Tool

if TYPE_CHECKING:
    from pegboard.calls.served_item import ServedItem

logger = logging.getLogger("pegboard")


class ServedCatalogue:
    """The tools, resources and prompts of the current assembly, as protocols see them.

    Args:
        dispatcher: runs the methods of the assembly.
        runtime: the shared objects of calls.
        changes: the listeners for changes.
        page_size: returns the maximum number of items of a page.

    Attributes:
        current: the current assembly; None before the first.
    """

    def __init__(
        self, dispatcher: Dispatcher, runtime: Runtime, changes: ChangeListeners, page_size: Callable[[], int]
    ) -> None:
        self._dispatcher = dispatcher
        self._runtime = runtime
        self._changes = changes
        self.watch = changes.watch
        self._page_size = page_size
        self.current: Assembly | None = None
        self._lists: Lists = {}
        self._gates: Sequence[Gate] = ()
        self._offered: frozenset[str] = frozenset(("tools",))

    @property
    def assembly(self) -> Assembly:
        """The current assembly.

        Raises:
            ServerError: nothing has been loaded yet.
        """
        if self.current is None:
            raise ServerError("the host has not been started: enter it with `async with host:` first")
        return self.current

    def begin_anew(self, kinds: Collection[str]) -> None:
        """Reuse nothing for the next assembly. `kinds` are the kinds of items that plugins add later."""
        self._lists = {}
        self._offered = frozenset(("tools", *kinds))

    def publish(self, assembly: Assembly) -> None:
        """Serve a new assembly. Calls in flight continue with the previous assembly."""
        self._lists = lists_of(assembly, self._page_size(), self._lists, self._runtime.middleware)
        runtime = self._runtime._replace(token_sources=assembly.token_sources)
        methods = method_table(assembly, lambda kind: partial(self._page, kind), runtime)
        self._dispatcher.publish(methods, assembly.contributed, self._lists["tools"].page)
        self._gates = [link.middleware for link in assembly.middleware if isinstance(link.middleware, Gate)]
        self.current = assembly
        self._offered |= offered(assembly)

    def _page(self, kind: ListKind, call: Call) -> Awaitable[Outcome]:
        """Return a page of the current list. Middleware runs before, and may change the list meanwhile."""
        return self._lists[kind].page(call)

    def offers(self, kind: ItemKind | Literal["completions"]) -> bool:
        """Return True if the host lists or has listed items of a kind. Tools are always offered."""
        return kind in self._offered

    def hears(self, method: str) -> bool:
        """Return True if a handler or middleware receives notifications named `method`. Return False for requests."""
        return method.startswith("notifications/") and method in self._dispatcher.methods

    def tool(self, name: str, caller: Caller) -> Tool | None:
        """Return the tool with the wire name `name`. Return None if the caller has no access to such a tool."""
        bound = self.assembly.tools.get(name)
        if bound is None or (bound.requirements.scopes and not may_find(caller, bound)):
            return None
        if self._gates and hides(self._gates, name, caller):
            return None
        tool: Tool = bound.item
        return tool

    def subscribe(self, uri: str, call: Call) -> MCPError | None:
        """Notify the resource of a subscription. See `ProtocolContext.subscribe`."""
        if (error := refused(self._gates, uri, call)) is not None:
            return error
        bound = _subscribed(self.assembly, uri)
        if bound is not None and bound.subscribed is not None:
            try:
                bound.subscribed(uri, Context(call, bound, EMPTY, self._runtime.host_access))
            except Exception as failed:
                text = "the function `subscribed` of %s failed"
                logger.error(text, bound.name, exc_info=told_traceback(failed))
        return None

    def emit(self, change: Change) -> None:
        """Announce a change to the listeners, from any thread. Never raises."""
        for kind, lists in self._lists.items():
            if item_kind(kind) == change.kind:
                lists.forget()
        self._changes.emit(change)


def _subscribed(assembly: Assembly, uri: str) -> ServedItem | None:
    """Return the resource or template with the URI, if it has a function `subscribed`."""
    for bound in assembly.resources.values():
        if bound.subscribed is not None and (
            bound.name == uri if bound.matcher is None else bound.matcher.match(uri) is not None
        ):
            return bound
    return None
