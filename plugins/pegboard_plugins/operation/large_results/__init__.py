"""Results that exceed their size limit: the client receives the beginning, and a link to the whole result.

The results are kept in the memory of this process for a limited time. Only the caller of the tool can read them, in the
same session. Other processes that share the state request them from this process.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from pydantic import Field

from pegboard import Context, NotFoundError, PluginConfig, ResourceContents, ResourceLink, TextContent, ToolResult
from pegboard.errors import ResultTooLargeError
from pegboard.plugin import Middleware, Plugin, PluginContext, ResourceDefinition, encode, hookimpl
from pegboard.types import Call, Caller, CallNext, Inventory, Outcome
from pegboard_plugins.support.bus_requests import ID_BYTES, BusRequests, number_in

URI = "pegboard://large-results/"
"""The beginning of the URI of a kept result. A random id follows."""
TEMPLATE = URI + "{id}"
"""The URI template of all kept results."""
FIRST_REVISION_WITH_LINKS = "2025-06-18"


class LargeResultsConfig(PluginConfig):
    """`[plugins.large_results]`.

    Attributes:
        preview_bytes: the size of the beginning that is sent at once, within the limit of the result.
        keep_seconds: the time for which a result can be read.
        max_result_bytes: the maximum size of a kept result. A larger result is an error.
        max_results: the maximum number of kept results. Above it, the oldest result of the caller with the most results
            is dropped.
        max_total_bytes: the maximum size of all kept results. Above it, the oldest result of the caller with the most
            bytes is dropped.
    """

    preview_bytes: int = Field(4096, ge=0)
    keep_seconds: float = Field(600, gt=0)
    max_result_bytes: int = Field(16 * 1024 * 1024, ge=1)
    max_results: int = Field(100, ge=1)
    max_total_bytes: int = Field(64 * 1024 * 1024, ge=1)


class LargeResultsPlugin(Plugin):
    """The plugin. Middleware stores large results, and resources read the stored results."""

    Config = LargeResultsConfig

    def __init__(self, config: LargeResultsConfig) -> None:
        super().__init__(config)
        self._kept = KeptResults(config)

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [LargeResults(self.config, self._kept)]

    @hookimpl
    @asynccontextmanager
    async def lifespan(self, context: PluginContext) -> AsyncIterator[None]:
        """Answer other processes until the host stops."""
        self._processes = BusRequests(context.bus, context.name, self._read_for_another)
        self._kept.new_id = self._processes.new_id
        try:
            yield
        finally:
            self._processes.close()

    @hookimpl
    def register_resources(self) -> Iterable[ResourceDefinition]:
        """Return the template of all kept results."""
        about = "A result of a tool that exceeded its size limit. Links in results of tools name such resources."
        return [ResourceDefinition(TEMPLATE, self._read, name="large_result", description=about, max_result=0)]

    async def _read(self, id: str, context: Context) -> ResourceContents:
        owner = Owner.of(context.caller, context.session_id)
        kept = self._kept.get(id, owner)
        result = await self._processes.ask(number_in(id), [id, owner]) if kept is None else kept.result
        if result is None:
            raise NotFoundError("The result is no longer kept. Call the tool again.")
        text, _, mime_type = result
        return ResourceContents(URI + id, text, mime_type)

    async def _read_for_another(self, request: Any) -> WholeResult | None:
        """Return a result of this process for a caller of another process."""
        key, (caller, scopes, session_id, peer) = request
        owner = Owner(Caller(*caller)._replace(scopes=frozenset()), frozenset(scopes), session_id, peer)
        kept = self._kept.get(key, owner)
        return kept and kept.result


class Owner(NamedTuple):
    """The caller, its scopes and the session that may read a result.

    Attributes:
        peer: the address of a caller without authentication. Callers at one address share the limits.
    """

    caller: Caller
    scopes: frozenset[str]
    session_id: str | None
    peer: str

    @classmethod
    def of(cls, caller: Caller, session_id: str | None, peer: str = "") -> Owner:
        """Return the owner of a result of a call."""
        return cls(caller.identity, caller.scopes, session_id, "" if caller.is_known else peer)

    def may_read(self, result: Kept) -> bool:
        """Return True for the same caller in the same session, with all scopes of the call."""
        owner = result.owner
        is_same = (self.caller, self.session_id) == (owner.caller, owner.session_id)
        return is_same and self.scopes >= owner.scopes


class WholeResult(NamedTuple):
    """A result without the preview.

    Attributes:
        text: the string, or JSON.
        size: its size in UTF-8, in bytes.
        mime_type: its media type.
    """

    text: str
    size: int
    mime_type: str

    def beginning(self, max_bytes: int) -> str:
        """Return the beginning of the text."""
        return self.text[:max_bytes].encode()[:max_bytes].decode(errors="ignore")


class Kept(NamedTuple):
    """A kept result.

    Attributes:
        result: the result.
        owner: the caller that may read it.
        expires_at: the time of the clock when it is dropped.
    """

    result: WholeResult
    owner: Owner
    expires_at: float


class KeptResults:
    """The kept results, oldest first.

    Args:
        config: the limits.
        clock: returns the time in seconds.

    Attributes:
        new_id: returns an id that nobody can guess.
    """

    def __init__(self, config: LargeResultsConfig, clock: Callable[[], float] = monotonic) -> None:
        self._config = config
        self._clock = clock
        self.new_id: Callable[[], str] = partial(secrets.token_urlsafe, ID_BYTES)
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0

    def add(self, result: WholeResult, owner: Owner) -> str:
        """Keep a result, and return its id."""
        self._drop_expired()
        self._make_room(result.size)
        key = self.new_id()
        self._kept[key] = Kept(result, owner, self._clock() + self._config.keep_seconds)
        self._bytes += result.size
        return key

    def get(self, key: str, owner: Owner) -> Kept | None:
        """Return a result, or None if it is not kept for this caller and session."""
        self._drop_expired()
        kept = self._kept.get(key)
        return kept if kept is not None and owner.may_read(kept) else None

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._kept and (oldest := next(iter(self._kept))) and self._kept[oldest].expires_at <= now:
            self._drop(oldest)

    def _make_room(self, size: int) -> None:
        """Drop results until another result fits, each time the oldest of the caller that has the most."""
        while self._bytes + size > self._config.max_total_bytes:
            self._drop(self._oldest_of_largest(lambda kept: kept.result.size))
        while len(self._kept) >= self._config.max_results:
            self._drop(self._oldest_of_largest(lambda kept: 1))

    def _oldest_of_largest(self, weight: Callable[[Kept], int]) -> str:
        shares: Counter[tuple[Caller, str]] = Counter()
        for kept in self._kept.values():
            shares[kept.owner.caller, kept.owner.peer] += weight(kept)
        largest = max(shares, key=shares.__getitem__)
        return next(key for key, kept in self._kept.items() if (kept.owner.caller, kept.owner.peer) == largest)

    def _drop(self, key: str) -> None:
        self._bytes -= self._kept.pop(key).result.size


class LargeResults(Middleware):
    """Middleware that replaces the error for a large result with the beginning of the result and a link to all of it.

    Args:
        config: the limits.
        kept: the kept results.
    """

    def __init__(self, config: LargeResultsConfig, kept: KeptResults) -> None:
        self._config = config
        self._kept = kept
        self._is_served = False

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Find out if links can be read."""
        self._is_served = TEMPLATE in inventory.resources
        return () if self._is_served else [f"large results remain errors: {TEMPLATE} is not served (enabled_tags)"]

    def _can_read(self, call: Call) -> bool:
        """Return True if the client of a call supports links and can read a kept result."""
        is_served = self._is_served and (call.serves is None or call.serves("resources", TEMPLATE))
        return is_served and call.client.revision >= FIRST_REVISION_WITH_LINKS

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Return the beginning of a large result with a link, if the client can read it."""
        try:
            return await call_next(call)
        except ResultTooLargeError as error:
            if call.path or not self._can_read(call):  # a call with a path was made by another tool
                raise
            size = min(self._config.max_result_bytes, self._config.max_total_bytes)
            result = await asyncio.to_thread(_whole, error, size)
            if result is None:
                raise
            return self._linked(call, error, result)

    def _linked(self, call: Call, error: ResultTooLargeError, result: WholeResult) -> ToolResult:
        key = self._kept.add(result, Owner.of(call.caller, call.session_id, call.peer))
        name = f"result of {call.params.get('name')}"
        seconds = f"{self._config.keep_seconds:g} seconds"
        text = (
            f"The result is too large: it has {result.size:,} bytes, and the limit is {error.limit:,}. Ask for less, "
            f"or read all of it from the linked resource within {seconds}. The result begins with:"
        )
        beginning = result.beginning(min(self._config.preview_bytes, error.limit))
        link = ResourceLink(URI + key, name, mime_type=result.mime_type, size=result.size)
        # a tool with an output schema promises structured content, except in errors (MCP, server/tools)
        return ToolResult(content=(TextContent(text), TextContent(beginning), link), is_error=error.is_structured)


def _whole(error: ResultTooLargeError, max_bytes: int) -> WholeResult | None:
    """Return the whole result, or None if it is larger or consists of content."""
    value = error.build(max_bytes)
    if isinstance(value, ToolResult) and value.content is None:
        value = value.value
    if value is None or isinstance(value, ToolResult):
        return None
    is_text = isinstance(value, str)
    data = value.encode(errors="replace") if is_text else encode(value)
    if len(data) > max_bytes:
        return None
    return WholeResult(data.decode(), len(data), "text/plain" if is_text else "application/json")
