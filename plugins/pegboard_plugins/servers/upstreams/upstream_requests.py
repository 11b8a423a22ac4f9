"""Middleware for hosts with mounted servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

from pegboard import NotFoundError
from pegboard.errors import RepeatCallError
from pegboard.plugin import Gate, Middleware
from pegboard.types import (
    Call,
    Caller,
    CallNext,
    Inventory,
    ItemKind,
    Listing,
    Outcome,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
)
from pegboard_plugins.servers.upstreams.caller_logins import login_name
from pegboard_plugins.servers.upstreams.hops import VIA, passed_hosts, refuse_loop
from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer

LISTING_METHODS = frozenset(("tools/list", "resources/list", "resources/templates/list", "prompts/list"))
ListedItem: TypeAlias = Tool | Resource | ResourceTemplate | Prompt
MAX_UNCONFIRMED_TTL_MS = 5_000
"""How long clients may cache a list with items that no connection has confirmed yet."""
USE_METHODS = frozenset(("tools/call", "resources/read", "prompts/get", "completion/complete"))


class UpstreamRequests(Middleware):
    """Refuses loops, and lets the first lists wait for servers.

    Args:
        host_id: the random id of this host.
        servers: the mounted servers.
        seconds: the time limit of waiting.
        on_serving: called when the host begins to serve.
    """

    outermost = True  # checks of other plugins refuse items that are not served yet
    _inventory: Inventory

    def __init__(
        self, host_id: str, servers: Sequence[UpstreamServer], seconds: float, on_serving: Callable[[], None]
    ) -> None:
        self._host_id = host_id
        self._servers = servers
        self._of_users = [server for server in servers if server.config.identity == "user"]
        self._with_logins = [server for server in self._of_users if server.config.callers_log_in]
        self._private_owners = {name for server in self._of_users for name in (server.name, login_name(server))}
        self._unsettled = servers
        self._seconds = seconds
        self._on_serving = on_serving

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Store the inventory, and report that the host serves."""
        self._inventory = inventory
        self._on_serving()
        return ()

    def wants(self, call: Call) -> bool:
        """Return True for requests of other hosts, and while a server is not connected."""
        if VIA in call.meta:
            return True
        if call.method in LISTING_METHODS and (self._with_logins or any(map(_is_private, self._servers))):
            return True
        if self._unsettled and call.method in USE_METHODS and self._is_known(call):
            # the item is served to all callers, also without these servers, but perhaps not to this call yet
            return any(server.memory.is_recalling or server.items.is_changing for server in self._servers)
        for server in self._unsettled:
            if not server.is_settled(call, self._seconds):
                return True
        self._unsettled = self._of_users  # a connection for all callers is waited for only once
        for server in self._servers:
            if not server.is_connected or server.items.is_changing:
                return True
        return bool(self._with_logins) and any(server.callers.needs_login(call.caller) for server in self._with_logins)

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Refuse loops. Let lists, and calls of items that are not known yet, wait for servers."""
        refuse_loop(call.meta, self._host_id)
        versions = [server.items.version for server in self._servers]
        has_waited = any([await server.memory.wait() for server in self._servers])
        if call.method in LISTING_METHODS:
            await self._settle(call, self._servers, self._seconds)
            self._unsettled = self._of_users
            for server in self._servers:
                server.wake(call)
            return self._as_unconfirmed(await self._list(call, call_next))
        if call.method in USE_METHODS:
            return await self._use(call, call_next, versions, has_waited=has_waited)
        return await call_next(call)

    async def _settle(self, call: Call, servers: Sequence[UpstreamServer], seconds: float) -> bool:
        """Wait until each of these servers has connected or failed, or the time is up.

        Return True if any of them has.
        """
        waiting = [server for server in servers if not server.is_settled(call, seconds)]
        if not waiting:
            return False
        tasks = [asyncio.ensure_future(server.settle(call)) for server in waiting]
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for server, task in zip(waiting, tasks, strict=True):
            if task in late:
                task.cancel()
                server.logger.warning(
                    "%s has not connected within %g seconds; its items are not listed yet", server.name, seconds
                )
        return any(server.is_settled(call, seconds) for server in waiting)

    async def _list(self, call: Call, call_next: CallNext) -> Outcome:
        """Return a list without the items of accounts of the operator, and of servers that mount the asking host.

        Mark the items of servers at which the caller must log in. Leave out the tools that would start other logins.
        """
        hidden: list[UpstreamServer] = []
        if VIA in call.meta:
            via = tuple(passed_hosts(call.meta))
            leads_back = await asyncio.gather(*(server.leads_back(via) for server in self._servers))
            hidden = [server for server, leads in zip(self._servers, leads_back, strict=True) if leads]
        listing = await call_next(call)
        private = [server for server in self._servers if _is_private(server)]  # the operator may have logged in since
        hidden += [server for server in private if server.login is not None and not server.login.admits(call.caller)]
        if not (hidden or private or self._with_logins) or not isinstance(listing, Listing):
            return listing
        kind: ItemKind = "resources" if listing.kind == "templates" else listing.kind
        items = [item for item in listing.items if not any(server.items.has(kind, _name(item)) for server in hidden)]
        for server in self._with_logins:
            if not server.callers.offers(call.caller):
                items = [item for item in items if item.owner != login_name(server)]
            if server.callers.needs_login(call.caller):
                items = [_marked(item, server) if server.items.has(kind, _name(item)) else item for item in items]
        return Listing(listing.kind, tuple(items), listing.next_cursor, private=True)

    def _as_unconfirmed(self, outcome: Outcome) -> Outcome:
        """Return a list that clients keep only for a short time, if it may have remembered items."""
        if not isinstance(outcome, Listing) or not any(server.memory.is_unconfirmed for server in self._servers):
            return outcome
        return Listing(
            outcome.kind, outcome.items, outcome.next_cursor, private=True, max_ttl_ms=MAX_UNCONFIRMED_TTL_MS
        )

    async def _use(self, call: Call, call_next: CallNext, versions: Sequence[int], *, has_waited: bool) -> Outcome:
        try:
            return await call_next(call)
        except NotFoundError as error:
            is_changed = has_waited or versions != [await server.items.settled_version() for server in self._servers]
            if is_changed and self._is_visible(call):  # the call began before its item was served
                raise RepeatCallError(f"{error}. Repeat the request.") from error
            if self._is_known(call):
                raise
            named = [
                server
                for server in self._servers
                if server.config.may_have(server.name, str(call.params.get("name", "")))
            ]
            free = [server for server in self._servers if server.config.prefix is False]  # they may have any name
            patience = max((server.config.timeout for server in named), default=0.0)
            others = free if named else self._servers
            if not (await self._settle(call, named, patience) or await self._settle(call, others, self._seconds)):
                logged_in = [server for server in named if await server.require(call)]
                if not logged_in:
                    raise
                await self._settle(call, logged_in, patience)
            raise RepeatCallError(f"{error}. More servers are connected now: repeat the request.") from error

    def _is_known(self, call: Call) -> bool:
        """Return True if the item of a call is served to all callers, so that the item itself raised the error."""
        return any(item.owner not in self._private_owners for _, _, item in self._answering(call))

    def _is_visible(self, call: Call) -> bool:
        """Return True if the item of a call is an item of a server that its caller may see."""
        return any(
            server.items.has(kind, name) and server.allows(kind, name, call.caller)
            for kind, name, _ in self._answering(call)
            for server in self._servers
        )

    def _answering(self, call: Call) -> list[tuple[ItemKind, str, ListedItem]]:
        """Return the items of the catalogue that answer a call, with their kinds and their names or URIs."""
        is_read = call.method == "resources/read"
        kind: ItemKind = "resources" if is_read else "tools" if call.method == "tools/call" else "prompts"
        name = call.params.get("uri" if is_read else "name")
        if not isinstance(name, str):
            return []
        items: Mapping[str, ListedItem] = getattr(self._inventory, kind)
        names = self._inventory.answering(name) if is_read and name not in items else (name,)
        return [(kind, candidate, items[candidate]) for candidate in names if candidate in items]


def _marked(item: ListedItem, server: UpstreamServer) -> ListedItem:
    """Return an item that names the login which it requires, as tools of the host do."""
    required = {"authorization": {"id": server.name, "scopes": []}}
    return item._replace(meta={**(item.meta or {}), "pegboard/requirements": required})


def _is_private(server: UpstreamServer) -> bool:
    return server.login is not None and server.login.is_private


def _name(item: ListedItem) -> str:
    if isinstance(item, Resource):
        return item.uri
    return item.uri_template if isinstance(item, ResourceTemplate) else item.name


class UserItems(Gate):
    """Hides the items of other users' connections.

    Args:
        plugin: the name of the plugin.
        servers: the mounted servers.
    """

    _inventory: Inventory

    def __init__(self, plugin: str, servers: Sequence[UpstreamServer]) -> None:
        self._logins = set(map(login_name, servers))
        self._owners = {plugin, *(server.name for server in servers), *self._logins}
        self._servers = servers

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        self._inventory = inventory
        return ()

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        """Return True if an item belongs to another plugin, or if the connection for the caller lists it."""
        items: Mapping[str, ListedItem] = getattr(self._inventory, kind)
        if name in items:
            return items[name].owner not in self._owners or self._sees(kind, name, caller)
        templates = self._inventory.answering(name) if kind == "resources" else ()
        return not templates or any(self.allows(kind, template, caller) for template in templates)

    def _sees(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        if any(server.items.has(kind, name) and server.allows(kind, name, caller) for server in self._servers):
            return True
        return kind == "tools" and name in self._logins and caller.is_known  # a list has it only before the login

    def view(self, call: Call) -> Hashable:
        """Return the caller with the client program, and the state of the lists."""
        states = [(server.items.version, server.callers.needs_login(call.caller)) for server in self._servers]
        return call.caller.identity, call.caller.client_id, tuple(states)
