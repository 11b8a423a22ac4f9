"""The MCP endpoint as a route sees it. What answers is imported with the first request: no other run pays for it."""

from __future__ import annotations

from collections.abc import Awaitable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pegboard import EventStore, EventStream, PluginError, ProtocolHost, Request, Response, SessionStore

if TYPE_CHECKING:
    from pegboard_plugins.mcp import McpConfig
    from pegboard_plugins.mcp.rounds import RoundTrips
    from pegboard_plugins.mcp.streamable_http import StreamableHttp


class Endpoint:
    """One handler for every method.

    Raises:
        PluginError: a store that the operator named cannot be had.
    """

    def __init__(self, config: McpConfig, round_trips: RoundTrips) -> None:
        self._config = config
        self._round_trips = round_trips
        self._session_store: SessionStore | None = _store("session_store", config.session_store, "put", "get", "remove")
        self._event_store: EventStore | None = _store("event_store", config.event_store, "append", "after", "forget")
        self._http: StreamableHttp | None = None

    def answer(self, request: Request, host: ProtocolHost) -> Awaitable[Response | EventStream]:
        """Answer a request at the endpoint."""
        if self._http is None:
            from pegboard_plugins.mcp.http.memory import MemoryEvents, MemorySessions
            from pegboard_plugins.mcp.http.table import Sessions
            from pegboard_plugins.mcp.streamable_http import StreamableHttp

            config = self._config
            store = self._session_store or MemorySessions(config.max_sessions, config.session_idle_seconds)
            events = self._event_store
            if events is None and config.events_bytes:
                events = MemoryEvents(config.events_bytes, config.session_events_bytes, config.events_seconds)
            self._http = StreamableHttp(config, self._round_trips, Sessions(store, events, config))
        if request.method == "POST":
            return self._http.post(request, host)
        return (self._http.delete if request.method == "DELETE" else self._http.get)(request, host)


def _store(key: str, reference: str | None, *methods: str) -> Any:
    """What a `module:name` makes, None for none.

    Raises:
        PluginError: it cannot be made, or lacks a method.
    """
    if reference is None:
        return None
    module, _, name = reference.partition(":")
    try:
        store = getattr(import_module(module), name)()
    except Exception as error:
        raise PluginError(f"{key} {reference} cannot be made: {type(error).__name__}: {error}") from error
    missing = [method for method in methods if not callable(getattr(store, method, None))]
    if missing:
        raise PluginError(f"{key} {reference} lacks {', '.join(missing)}")
    return store
