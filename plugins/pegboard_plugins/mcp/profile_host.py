"""A view of the host for one profile. Every list, call and notification is restricted to the profile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal
from weakref import WeakKeyDictionary

from pegboard import MCPError, NotFoundError
from pegboard.plugin import (
    METHOD_NOT_FOUND,
    Contributions,
    Gate,
    ProtocolContext,
    ProtocolError,
    SessionRecorder,
    with_similar_tool,
)
from pegboard.types import Call, Caller, Change, Failure, Identity, ItemKind, Listing, Outcome, Request, Response, Tool
from pegboard_plugins.mcp.profiles import KINDS, Profile

_LISTS: dict[str, ItemKind] = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "prompts/list": "prompts",
}
_NAMED: dict[str, tuple[ItemKind, str]] = {
    "tools/call": ("tools", "name"),
    "resources/read": ("resources", "uri"),
    "prompts/get": ("prompts", "name"),
}
"""The methods that use an item: its kind, and the parameter that names it."""


class ProfileHost:
    """A `ProtocolContext` that serves one profile.

    Methods, topics and notification handlers of plugins are not served, as they are not restricted to the profile.
    Calls that a tool of the profile makes itself are not restricted.

    Args:
        host: the whole host.
        profile: the profile.
    """

    def __init__(self, host: ProtocolContext, profile: Profile) -> None:
        self.host = host
        self._profile = profile
        self._pages: WeakKeyDictionary[Listing, Listing] = WeakKeyDictionary()

    # --- restricted

    def offers(self, kind: ItemKind | Literal["completions"]) -> bool:
        """Return True if the profile may list items of a kind."""
        return self.host.offers(kind) and (kind == "completions" or kind == "tools" or self._profile.may_have(kind))

    @property
    def contributed(self) -> Contributions:
        """The extensions of plugins that consist of metadata only."""
        given = self.host.contributed
        active = {one.extension for one in given.methods.values()}
        active |= {one.extension for one in given.notifications.values()}
        active |= {one.extension for one in given.topics.values()}
        return Contributions({name: one for name, one in given.extensions.items() if name not in active})

    def hears(self, method: str) -> bool:
        """Return True if middleware receives a notification."""
        return method not in self.host.contributed.notifications and self.host.hears(method)

    def tool(self, name: str, caller: Caller) -> Tool | None:
        """Return a tool of the profile. Return None if the profile does not contain it."""
        return self.host.tool(name, caller) if self._profile.has("tools", name) else None

    def subscribe(self, uri: str, call: Call) -> MCPError | None:
        """Notify a resource of a subscription. Return an error if a gate or the profile excludes the resource."""
        if self._profile.has("resources", uri):
            return self.host.subscribe(uri, call)
        return Gate().refusal("resources", uri, call)

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call a listener after every change, except for changes of lists outside the profile."""
        seen = {kind: self._profile.snapshot(kind) for kind in KINDS}

        def notify(change: Change) -> None:
            if change.kind != "resource":
                (before, own_before), (after, own) = seen[change.kind], self._profile.snapshot(change.kind)
                seen[change.kind] = after, own
                if not _same(before, after) and _same(own_before, own):
                    return
            elif not self._profile.has("resources", change.uri or ""):
                return
            listener(change)

        return self.host.watch(notify)

    async def dispatch(self, call: Call) -> Outcome:
        """Run a call of an item of the profile. Other items do not exist."""
        if call.method in _LISTS:
            return await self._list(call)
        if call.method in _NAMED:
            kind, parameter = _NAMED[call.method]
            name = call.params.get(parameter)
        elif call.method == "completion/complete":
            kind, name = _completed(call)
        elif call.method.startswith("notifications/"):
            return await self.host.dispatch(call)
        else:
            return Failure(ProtocolError(METHOD_NOT_FOUND, f"Method not found: {call.method}"))
        if not isinstance(name, str):
            return await self.host.dispatch(call)
        if self._profile.has(kind, name):
            outcome = await self.host.dispatch(call._replace(serves=self._profile.has))
            if call.method != "tools/call" or not _names_unknown_tool(outcome, name):
                return outcome
        return Failure(await with_similar_tool(Gate().refusal(kind, name, call), call, self._list))

    async def _list(self, call: Call) -> Outcome:
        outcome = await self.host.dispatch(call)
        while isinstance(outcome, Listing):
            page = self._page(outcome, _LISTS[call.method])
            if page.items or page.next_cursor is None:
                return page
            outcome = await self.host.dispatch(call._replace(params={**call.params, "cursor": page.next_cursor}))
        return outcome

    def _page(self, whole: Listing, kind: ItemKind) -> Listing:
        """Return the items of a page that belong to the profile. The result is kept, as its encoded form is cached."""
        page = self._pages.get(whole)
        if page is None:
            items = tuple(item for item in whole.items if self._profile.has(kind, _name(item)))
            page = Listing(whole.kind, items, whole.next_cursor, private=whole.private)
            self._pages[whole] = page
        return page

    async def authenticate(self, request: Request, policy: str = "") -> Caller | Response:
        """Authenticate a request again, by default with the policy of the profile."""
        return await self.host.authenticate(request, policy or self._profile.policy)

    # --- passed on

    @property
    def stopping(self) -> bool:
        """True if the host is about to stop."""
        return self.host.stopping

    async def wait_stopping(self) -> float:
        """Wait until the host is about to stop. Return the end of the grace period on the event loop's clock."""
        return await self.host.wait_stopping()

    @property
    def restarting(self) -> Collection[str]:
        """The names of the transports that are not open again."""
        return self.host.restarting

    @property
    def identity(self) -> Identity:
        """The identity of the host."""
        return self.host.identity

    @property
    def sessions(self) -> SessionRecorder | None:
        """The recorder of sessions."""
        return self.host.sessions

    def is_immediate(self, call: Call) -> bool:
        """Return True if a call ends without waiting."""
        return self.host.is_immediate(call)

    async def store(self, contract: type[Any], name: str) -> Any:
        """Return a store of the host."""
        return await self.host.store(contract, name)


def _names_unknown_tool(outcome: Outcome, name: str) -> bool:
    """Return True for the host's error for an unknown or hidden tool. It may suggest a tool outside the profile."""
    error = outcome.error if isinstance(outcome, Failure) else None
    return type(error) is NotFoundError and error.message.startswith(f"Unknown tool: {name}")


def _completed(call: Call) -> tuple[ItemKind, Any]:
    """Return the kind and the name of the item that the completion request names."""
    reference = call.params.get("ref")
    if not isinstance(reference, dict):
        return "prompts", None
    if reference.get("type") == "ref/resource":
        return "resources", reference.get("uri")
    return "prompts", reference.get("name")


def _name(item: Any) -> str:
    """Return the name, URI or URI template of a listed item."""
    name: str = getattr(item, "uri", None) or getattr(item, "uri_template", None) or item.name
    return name


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two mappings have the same items."""
    return one.keys() == other.keys() and all(one[name] is other[name] for name in one)
