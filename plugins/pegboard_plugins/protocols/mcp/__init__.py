"""The Model Context Protocol on message streams and over HTTP, in every revision."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from pegboard.plugin import EventStore, Middleware, Plugin, Route, SessionStore, Store, StreamProtocol, hookimpl
from pegboard_plugins.protocols.mcp.settings import McpConfig

if TYPE_CHECKING:
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

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the profiles, which learn of changes of the catalogue."""
        return self._profiles.values()

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        """Return the protocol of message streams."""
        from pegboard_plugins.protocols.mcp.message_stream import McpProtocol

        profile = self._profiles.get(self.config.stream_profile or "")
        return [McpProtocol(self.config, self._round_trips, profile)]

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        """Return the stores in this process's memory."""
        return [
            Store(contract=SessionStore, open=self._sessions, name="memory"),
            Store(contract=EventStore, open=self._events, name="memory"),
        ]

    @asynccontextmanager
    async def _sessions(self) -> AsyncIterator[SessionStore]:
        from pegboard_plugins.protocols.mcp.http.memory_store import MemorySessionStore

        yield MemorySessionStore(self.config.max_sessions, self.config.session_idle_seconds)

    @asynccontextmanager
    async def _events(self) -> AsyncIterator[EventStore]:
        from pegboard_plugins.protocols.mcp.http.memory_store import MemoryEventStore

        config = self.config
        yield MemoryEventStore(config.events_bytes, config.session_events_bytes, config.events_seconds)

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the MCP endpoint of HTTP servers. The first request imports its implementation."""
        if not self.config.http:
            return []
        from pegboard_plugins.protocols.mcp.mcp_endpoint import McpEndpoint

        is_open, bare = self.config.anonymous, self.config.path.rstrip("/")
        endpoints: dict[str, Profile | None] = {bare: None}
        endpoints |= {f"{bare}/{name}": profile for name, profile in self._profiles.items()}
        routes = []
        for start, profile in endpoints.items():
            answer = McpEndpoint(self.config, self._round_trips, profile).answer
            whole = Route("POST", start or "/", answer, anonymous=is_open, advice=_ADVICE)
            route = whole if profile is None else whole._replace(auth=profile.policy)
            paths = sorted({route.path, f"{start}/"})
            routes += [
                route._replace(path=path, method=method) for path in paths for method in ("POST", "GET", "DELETE")
            ]
        return routes
