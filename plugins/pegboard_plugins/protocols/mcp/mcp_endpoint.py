"""The MCP endpoint as a route. To keep start-up fast, the first request imports the implementation."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeAlias

from pegboard.plugin import EventStore, PluginContext, ProtocolContext, SessionStore
from pegboard.types import EventStream, Request, Response

if TYPE_CHECKING:
    from functools import partial

    from pegboard_plugins.protocols.mcp.change_broadcaster import ChangeBroadcaster
    from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions
    from pegboard_plugins.protocols.mcp.mcp_service import McpService
    from pegboard_plugins.protocols.mcp.profiles import Profile
    from pegboard_plugins.protocols.mcp.settings import McpConfig
    from pegboard_plugins.protocols.mcp.streamable_http import StreamableHttp

Answer: TypeAlias = Response | EventStream | Awaitable[Response | EventStream]


class McpEndpoint:
    """The handler of all HTTP methods at one endpoint: of the whole catalogue, or of a profile."""

    def __init__(
        self,
        new_service: partial[McpService],
        config: McpConfig,
        profile: Profile | None,
        context: PluginContext,
    ) -> None:
        self._context = context
        self._new_service = new_service
        self._config = config
        self._profile = profile
        self._http: StreamableHttp | None = None

    def answer(self, request: Request, host: ProtocolContext) -> Answer:
        """Answer a request at the endpoint."""
        http = self._http
        if http is None:
            return self._open_and_answer(request, host)
        return http.post(request) if request.method == "POST" else http.get_or_delete(request)

    async def _open_and_answer(self, request: Request, host: ProtocolContext) -> Response | EventStream:
        """Answer a request before the handlers exist. Open the stores if needed.

        Raises:
            PluginError: a store cannot be opened.
        """
        from pegboard_plugins.protocols.mcp.streamable_http import StreamableHttp

        service = self._new_service(host, transport="http")
        sessions = await self._sessions(host, service.changes)
        if self._http is None:  # unless another request was faster
            self._http = StreamableHttp(service, self._config, sessions, self._context.bus)
        answer = self.answer(request, host)
        return answer if isinstance(answer, Response | EventStream) else await answer

    async def _sessions(self, host: ProtocolContext, changes: ChangeBroadcaster) -> HttpSessions:
        """Return the sessions of the endpoint, whose clients are notified of changes.

        Raises:
            PluginError: a store cannot be opened.
        """
        config = self._config
        profile = self._profile.key if self._profile else ""
        if config.sessions == "sealed":
            from pegboard_plugins.protocols.mcp.http.sealed_sessions import SealedSessions

            return SealedSessions(config, changes, profile)
        from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions
        from pegboard_plugins.protocols.mcp.http.memory_store import events_in_memory

        store: SessionStore = await self._context.store(SessionStore, config.session_store, self._finish)
        events: EventStore | None = None
        shared: EventStore | None = None
        if config.events_bytes or config.event_store != "memory":
            events = await host.store(EventStore, config.event_store)
            if events.shared:  # the messages of running calls stay in this process
                shared, events = events, events_in_memory(config)
        return HttpSessions(store, events, config, changes, profile, self._context.bus, shared)

    async def _finish(self) -> None:
        if self._http is not None:
            await self._http.sessions.finish()
