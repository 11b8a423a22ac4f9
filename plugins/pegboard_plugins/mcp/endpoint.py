"""The MCP endpoint as a route sees it. What answers is imported with the first request: no other run pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard import EventStream, ProtocolHost, Request, Response

if TYPE_CHECKING:
    from pegboard_plugins.mcp import McpConfig
    from pegboard_plugins.mcp.rounds import RoundTrips
    from pegboard_plugins.mcp.streamable_http import StreamableHttp


class Endpoint:
    """One handler for every method."""

    def __init__(self, config: McpConfig, round_trips: RoundTrips) -> None:
        self._config = config
        self._round_trips = round_trips
        self._http: StreamableHttp | None = None

    async def answer(self, request: Request, host: ProtocolHost) -> Response | EventStream:
        """Answer a request at the endpoint."""
        if self._http is None:
            from pegboard_plugins.mcp.http.memory import MemoryEvents, MemorySessions
            from pegboard_plugins.mcp.http.table import Sessions
            from pegboard_plugins.mcp.streamable_http import StreamableHttp

            config = self._config
            store = MemorySessions(config.max_sessions, config.session_idle_seconds)
            events = None
            if config.events_bytes:
                events = MemoryEvents(config.events_bytes, config.session_events_bytes, config.events_seconds)
            self._http = StreamableHttp(config, self._round_trips, Sessions(store, events, config))
        if request.method == "POST":
            return await self._http.post(request, host)
        return await (self._http.delete if request.method == "DELETE" else self._http.get)(request, host)
