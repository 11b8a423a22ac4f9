"""The lists of a server, read within limits. A server is not trusted."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pegboard.plugin import ProtocolError, encode
from pegboard_plugins.servers.upstreams.hops import LOOP, LoopError
from pegboard_plugins.servers.upstreams.item_selection import ItemSelection
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.support.jsonrpc import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from pegboard_client import Client

RawItem: TypeAlias = Mapping[str, Any]
"""An item as the server lists it."""
RawKind: TypeAlias = Literal["tools", "resources", "templates", "prompts"]

ALL_KINDS: frozenset[RawKind] = frozenset(("tools", "resources", "templates", "prompts"))
MAX_ITEMS = 2_000
"""The maximum number of items of one list. Further items are not served."""
MAX_LIST_BYTES = 16 * 1024 * 1024
"""The maximum size of the definitions of one list as JSON. Further items are not served."""
MAX_PAGES = 200
"""The maximum number of pages of one list."""
MIN_FRESH_SECONDS = 5.0
"""A list counts as fresh for at least this time, whatever the server says."""
MAX_FRESH_MS = 86_400_000
"""A list counts as fresh for at most this time."""

_METHODS: Mapping[RawKind, tuple[str, str, str, str]] = {
    "tools": ("tools/list", "tools", "tools", "name"),
    "resources": ("resources/list", "resources", "resources", "uri"),
    "templates": ("resources/templates/list", "resourceTemplates", "resources", "uriTemplate"),
    "prompts": ("prompts/list", "prompts", "prompts", "name"),
}
"""For each kind: the method, the member of the result, the capability, and the member that identifies an item."""


class UpstreamLists(NamedTuple):
    """The lists of one connection by kind. Each maps the server's own names or URIs to items."""

    tools: Mapping[str, RawItem] = {}
    resources: Mapping[str, RawItem] = {}
    templates: Mapping[str, RawItem] = {}
    prompts: Mapping[str, RawItem] = {}


class ListReader:
    """Reads the lists of one server.

    Args:
        server: the name of the server, for the log.
        config: the settings of the server.
        logger: the log.
        meta: the members of `_meta` of each request.
        selection: the items that are served.

    Attributes:
        fresh_seconds: how long the lists are fresh: the shortest `ttlMs` of the server (2026-07-28), or the time in
            the settings.
        failed: the lists that the server has but could not be read the last time, with the reasons.
    """

    def __init__(
        self,
        server: str,
        config: ServerConfig,
        logger: logging.Logger,
        meta: Mapping[str, Any],
        selection: ItemSelection,
    ) -> None:
        self._server = server
        self._config = config
        self._logger = logger
        self._meta = meta
        self._selection = selection
        self.fresh_seconds = config.refresh_seconds
        self.failed: dict[RawKind, str] = {}

    async def read(self, client: Client, kinds: Collection[RawKind], before: UpstreamLists) -> UpstreamLists:
        """Read the lists of `kinds` again, and return all lists. A list that cannot be read stays as it was.

        Raises:
            TransportError, ServerTimeoutError: the connection failed.
            LoopError: the server is this host, or mounts this host.
        """
        lists: dict[str, Mapping[str, RawItem]] = {}
        self.fresh_seconds = self._config.refresh_seconds
        for kind in sorted(kinds):
            if _METHODS[kind][2] in client.server.capabilities:
                self.failed.pop(kind, None)
                try:
                    lists[kind] = await self._read(client, kind)
                except ProtocolError as error:
                    self._judge(error, kind)
            else:
                lists[kind] = {}
        return before._replace(**lists)

    def _judge(self, error: ProtocolError, kind: RawKind) -> None:
        if isinstance(error.data, dict) and LOOP in error.data:
            raise LoopError("it is this host, or mounts this host; remove the section") from error
        level = logging.DEBUG
        if error.code != METHOD_NOT_FOUND:
            level = logging.WARNING
            self.failed[kind] = f"the list of {kind} failed: {error}"
        self._logger.log(level, "%s: the list of %s failed: %s", self._server, kind, error)

    def taken(self, items: Mapping[RawKind, Iterable[Any]]) -> UpstreamLists:
        """Return lists that were read earlier, within the same limits, and without items that are not served now."""
        lists: dict[str, dict[str, RawItem]] = {kind: {} for kind in ALL_KINDS}
        for kind in ALL_KINDS:
            self._take(lists[kind], items[kind], kind, MAX_LIST_BYTES)
        return UpstreamLists(**lists)

    async def _read(self, client: Client, kind: RawKind) -> Mapping[str, RawItem]:
        """Return the items of all pages, up to the limits."""
        method, member, *_ = _METHODS[kind]
        listed: dict[str, RawItem] = {}
        params: dict[str, Any] = {}
        room = MAX_LIST_BYTES
        for _ in range(MAX_PAGES):
            page = await client.request(method, params, meta=self._meta, timeout=self._config.timeout)
            self._note_ttl(page.get("ttlMs"))
            items = page.get(member)
            room = self._take(listed, items if isinstance(items, list) else (), kind, room)
            if room < 0:
                return listed
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor == params.get("cursor"):
                return listed
            params = {"cursor": cursor}
        self._logger.warning("%s has more than %s pages of %s", self._server, MAX_PAGES, kind)
        return listed

    def _take(self, listed: dict[str, RawItem], items: Iterable[Any], kind: RawKind, room: int) -> int:
        """Add the items that are served to a list. Return the bytes that are left, or -1 if the list is full."""
        key = _METHODS[kind][3]
        for item in items:
            if not self._is_served(item, kind):
                continue
            room -= len(encode(item))
            if room < 0 or len(listed) >= MAX_ITEMS:
                self._logger.warning(
                    "%s lists more than %s %s or %s bytes; the others are not served",
                    self._server,
                    MAX_ITEMS,
                    kind,
                    MAX_LIST_BYTES,
                )
                return -1
            listed[item[key]] = item
        return room

    def _note_ttl(self, ttl_ms: Any) -> None:
        """Store how long a page is fresh. Ignore the time 0, which many servers send to prevent caching."""
        if type(ttl_ms) is int and ttl_ms > 0:
            seconds = min(ttl_ms, MAX_FRESH_MS) / 1000
            self.fresh_seconds = min(self.fresh_seconds, max(seconds, MIN_FRESH_SECONDS))

    def _is_served(self, item: Any, kind: RawKind) -> bool:
        """Return True if an item has a name or URI that the settings include."""
        key = _METHODS[kind][3]
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            return False
        name = item.get("name")
        return self._selection.takes(kind, item[key], *([name] if isinstance(name, str) else ()))
