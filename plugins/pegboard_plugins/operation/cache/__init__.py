"""A cache of results of tools that change nothing, for each caller. Each process has its own cache."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from time import monotonic
from typing import Any, NamedTuple

from pydantic import Field

from pegboard import PluginConfig, ToolResult
from pegboard.plugin import Middleware, Plugin, encode, hookimpl
from pegboard.types import Call, CallNext, Inventory, Outcome, Tool

_IRRELEVANT_META = frozenset(("progressToken", "traceparent", "tracestate", "baggage"))
_PROTOCOL_META = "io.modelcontextprotocol/"
_ITEM_BYTES = 32
"""The estimated size in memory of an item of a list, dict or content block, without the characters of strings."""


class CacheConfig(PluginConfig):
    """`[plugins.cache]`.

    Attributes:
        ttl_seconds: how long a result is used.
        tools: names or globs of tools on the wire. Only tools that declare read_only and idempotent are cached.
        max_results: the maximum number of results. The least recently used result is dropped first.
        max_bytes: the maximum size of all results and their arguments in memory, estimated.
        max_result_bytes: the maximum size of one result and its arguments. Larger results are not cached.
    """

    ttl_seconds: float = Field(60, gt=0)
    tools: tuple[str, ...] = ("*",)
    max_results: int = Field(1000, ge=1)
    max_bytes: int = Field(16 * 1024 * 1024, ge=1)
    max_result_bytes: int = Field(1024 * 1024, ge=1)


class CachePlugin(Plugin):
    """The middleware that caches results."""

    Config = CacheConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [ResultCache(self.config)]


class Entry(NamedTuple):
    """A cached result.

    Attributes:
        tool: the tool that returned it.
        result: the result.
        size: its size and the size of its key, in bytes.
        until: the time from which it is not used.
    """

    tool: Tool
    result: ToolResult
    size: int
    until: float


class ResultCache(Middleware):
    """Middleware that returns the result of an equal call of the same caller.

    Equal calls that run at once run the tool once. Errors are not cached. Neither are results of calls that sent
    notifications, such as progress, or asked the client.

    Args:
        config: the settings.
    """

    innermost = True

    def __init__(self, config: CacheConfig) -> None:
        self._config = config
        self._tools: Mapping[str, Tool] = {}
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()
        self._bytes = 0
        self._running: dict[Hashable, asyncio.Future[tuple[bool, ToolResult | None]]] = {}

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Receive the current tools. Results of changed tools are not used."""
        fixed = {name: tool for name, tool in inventory.tools.items() if _changes_nothing(tool)}
        selected = {name for pattern in self._config.tools for name in _matching(fixed, pattern)}
        self._tools = {name: fixed[name] for name in selected}
        return self._unused(inventory)

    def _unused(self, inventory: Inventory) -> Iterator[str]:
        """Yield a problem for each pattern that selects no tool."""
        for pattern in self._config.tools:
            named = _matching(inventory.tools, pattern)
            if pattern == "*" or not self._tools.keys().isdisjoint(named):
                continue
            if named:
                yield f"tools: {pattern!r} matches no tool that declares both read_only and idempotent"
            elif inventory.is_complete:
                yield f"tools: no tool matches {pattern!r}"

    def wants(self, call: Call) -> bool:
        """Return True for the first round of a client's call of a cacheable tool, if the caller is identifiable."""
        name = call.params.get("name")
        if not isinstance(name, str) or name not in self._tools:
            return False
        is_distinct = call.caller.is_known or call.session_id is not None
        is_first = call.round is None or not (call.round.number or call.round.given)
        return is_distinct and is_first and not call.path and call.supplied is None

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Return the cached result, or run the tool."""
        tool, key = self._tools.get(call.params["name"]), _key(call)
        if key is None:
            return await call_next(call)
        entry = self._entries.get(key)
        if entry is not None and entry.tool is tool and entry.until > monotonic():
            self._entries.move_to_end(key)
            return entry.result
        place = (id(tool), key)
        while (other := self._running.get(place)) is not None:
            has_ended, shared = await asyncio.shield(other)
            if has_ended:
                return shared or await call_next(call)
        running = self._running[place] = asyncio.get_running_loop().create_future()
        result: ToolResult | None = None
        has_ended = True
        try:
            observed = _Observed(call)
            outcome = await call_next(observed.call)
            if isinstance(outcome, ToolResult) and not outcome.is_error and not observed.interacted:
                result = outcome
                if tool is not None and self._tools.get(tool.name) is tool:
                    self._keep(key, tool, result)
            return outcome
        except asyncio.CancelledError:
            has_ended = False
            raise
        finally:
            del self._running[place]
            running.set_result((has_ended, result))

    def _keep(self, key: tuple[Any, ...], tool: Tool, result: ToolResult) -> None:
        self._drop(key)
        config = self._config
        size = sum(len(part) for part in key if isinstance(part, str | bytes))
        size += _size(result, config.max_result_bytes)
        if size > min(config.max_result_bytes, config.max_bytes):
            return
        self._entries[key] = Entry(tool, result, size, monotonic() + config.ttl_seconds)
        self._bytes += size
        while len(self._entries) > config.max_results or self._bytes > config.max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Hashable) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes -= entry.size


def _matching(names: Iterable[str], pattern: str) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern)]


def _changes_nothing(tool: Tool) -> bool:
    """Return True if a tool declares that it changes nothing. The declaration of a mounted server does not count."""
    hints = None if tool.raw is not None else tool.annotations
    return hints is not None and bool(hints.read_only and hints.idempotent)


def _size(result: ToolResult, limit: int) -> int:
    """Return the estimated size of a result in memory. Stop above the limit, because other calls wait meanwhile."""
    size = 0
    left: list[Any] = [result]
    while left and size <= limit:
        part = left.pop()
        if isinstance(part, str | bytes):
            size += len(part)
        elif isinstance(part, Mapping | list | tuple):
            size += len(part) * _ITEM_BYTES
            if size <= limit:
                left += (*part, *part.values()) if isinstance(part, Mapping) else part
    return size


def _key(call: Call) -> tuple[Any, ...] | None:
    """Return all properties of a call on which its result may depend, except for header fields.

    Return None if a claim of the caller's token is not JSON.
    """
    caller, client = call.caller, call.client
    meta = {
        name: value
        for name, value in call.meta.items()
        if name not in _IRRELEVANT_META and not name.startswith(_PROTOCOL_META)
    }
    try:
        claims = encode(dict(caller.extra or {}))
    except TypeError:
        return None
    return (
        call.params["name"],
        encode(call.params.get("arguments") or {}),
        caller._replace(extra=None, expires_at=None),
        claims,
        call.session_id,
        client.name,
        client.version,
        client.revision,
        encode(dict(client.capabilities)),
        encode(meta),
    )


class _Observed:
    """A call that records if its function sent notifications or asked the client.

    Attributes:
        call: the call to pass on.
        interacted: True after a notification or a question.
    """

    def __init__(self, call: Call) -> None:
        self.interacted = False
        self.call = call._replace(notify=self._recording(call.notify), ask=self._recording(call.ask))

    def _recording(self, function: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """Return a function of a call that also records its use."""
        if function is None:
            return None

        def recorded(*arguments: Any, **options: Any) -> Any:
            self.interacted = True
            return function(*arguments, **options)

        return recorded
