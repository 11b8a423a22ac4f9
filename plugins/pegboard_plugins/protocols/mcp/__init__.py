"""The Model Context Protocol on message streams and over HTTP, in every revision."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING
from weakref import WeakSet

from pegboard.plugin import (
    EventStore,
    Gauge,
    Middleware,
    Plugin,
    PluginContext,
    PluginError,
    Route,
    SessionStore,
    Store,
    StreamProtocol,
    hookimpl,
)
from pegboard_plugins.protocols.mcp.settings import McpConfig

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.mcp_service import McpService, Queues
    from pegboard_plugins.protocols.mcp.profiles import Profile
    from pegboard_plugins.protocols.mcp.round_trips import RoundTrips

_ADVICE = (
    "configure [plugins.auth_token] or [plugins.resource_server], or set [plugins.mcp] anonymous = true to let "
    "everybody use it, or [plugins.mcp] http = false to serve no MCP over HTTP"
)


class McpPlugin(Plugin):
    """MCP on every connection that a transport opens, and as routes of HTTP servers."""

    Config = McpConfig

    @cached_property
    def _queues(self) -> WeakSet[Queues]:
        return WeakSet()

    @cached_property
    def _round_trips(self) -> RoundTrips:
        from pegboard_plugins.protocols.mcp.round_trips import RoundTrips

        keys = [key.get_secret_value() for key in self.config.state_keys]
        return RoundTrips(keys, self.config.state_seconds)

    @cached_property
    def _profiles(self) -> Mapping[str, Profile]:
        if not self.config.profiles:
            return {}
        from pegboard_plugins.protocols.mcp.profiles import Profile

        return {name: Profile(name, config) for name, config in self.config.profiles.items()}

    def _new_service(self, profile: Profile | None) -> partial[McpService]:
        """Return a constructor of services with the settings of the plugin. It takes the host and the transport."""
        from pegboard_plugins.protocols.mcp.mcp_service import McpService

        return partial(
            McpService, config=self.config, round_trips=self._round_trips, queues=self._queues, profile=profile
        )

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the profiles, which follow changes of the catalogue."""
        return self._profiles.values()

    @hookimpl
    def register_telemetry(self) -> Iterable[Gauge]:
        """Return a gauge of the messages that wait."""
        return [
            Gauge(
                "messages_waiting",
                "Messages that wait until a client reads them.",
                lambda: {"": sum(queues.waiting for queues in tuple(self._queues))},
            )
        ]

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        from pegboard_plugins.protocols.mcp.message_stream import McpProtocol

        profile = self._profiles.get(self.config.stream_profile or "")
        return [McpProtocol(self._new_service(profile), self.config.max_batch)]

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        """Return the stores in this process's memory."""
        return [
            Store(
                contract=SessionStore, open=self._sessions, name="memory", in_memory=True, check=self._refuse_workers
            ),
            Store(contract=EventStore, open=self._events, name="memory", in_memory=True),
        ]

    @asynccontextmanager
    async def _sessions(self) -> AsyncIterator[SessionStore]:
        from pegboard_plugins.protocols.mcp.http.memory_store import MemorySessionStore

        yield MemorySessionStore(self.config.max_sessions, self.config.session_idle_seconds)

    def _refuse_workers(self, count: int) -> None:
        """Refuse to store sessions where the other workers do not find them.

        Raises:
            PluginError: the settings need one process.
        """
        if count > 1 and self.config.http and self.config.sessions == "stored":
            raise PluginError(
                f"sessions are in the memory of one process, but there are {count} workers: set [host] state = "
                '"redis", or [plugins.mcp] sessions = "sealed" (or "off" for clients of 2026-07-28 alone), or serve '
                "with --workers 1"
            )

    @asynccontextmanager
    async def _events(self) -> AsyncIterator[EventStore]:
        from pegboard_plugins.protocols.mcp.http.memory_store import events_in_memory

        yield events_in_memory(self.config)

    @hookimpl
    def register_routes(self, context: PluginContext) -> Iterable[Route]:
        """Return the MCP endpoint of HTTP servers. The first request imports its implementation."""
        if not self.config.http:
            return []
        from pegboard_plugins.protocols.mcp.mcp_endpoint import McpEndpoint

        is_open, bare = self.config.anonymous, self.config.path.rstrip("/")
        endpoints: dict[str, Profile | None] = {bare: None}
        endpoints |= {f"{bare}/{name}": profile for name, profile in self._profiles.items()}
        routes = []
        for start, profile in endpoints.items():
            answer = McpEndpoint(self._new_service(profile), self.config, profile, context).answer
            whole = Route("POST", start or "/", answer, anonymous=is_open, advice=_ADVICE)
            route = whole if profile is None else whole._replace(auth=profile.policy)
            paths = sorted({route.path, f"{start}/"})
            routes += [
                route._replace(path=path, method=method) for path in paths for method in ("POST", "GET", "DELETE")
            ]
        return routes
