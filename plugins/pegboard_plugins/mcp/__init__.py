"""The Model Context Protocol, on message streams and over HTTP, in every revision; each message in its own era."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, SecretStr, field_validator

from pegboard import PluginConfig
from pegboard.plugin import (
    EventStore,
    Plugin,
    Route,
    SessionStore,
    Store,
    StoreName,
    StreamProtocol,
    WidensAccess,
    hookimpl,
)

if TYPE_CHECKING:
    from pegboard_plugins.mcp.result_encoder import CacheableResult
    from pegboard_plugins.mcp.round_trips import RoundTrips

_ADVICE = (
    "configure [plugins.auth_token] or [plugins.resource_server], or set [plugins.mcp] anonymous = true to let "
    "everybody use it, or [plugins.mcp] http = false to serve no MCP over HTTP"
)
MIN_KEY_CHARACTERS = 32
"""Characters."""


class McpConfig(PluginConfig):
    """`[plugins.mcp]`.

    Attributes:
        list_ttl_ms: for how long clients may keep lists and the discovery answer, in milliseconds (2026-07-28 caching).
        tools_ttl_ms: the same for the list of tools alone, where it differs.
        resources_ttl_ms: the same for the lists of resources and of their templates.
        prompts_ttl_ms: the same for the list of prompts.
        max_batch: how many messages a batch may hold (revision 2025-03-26 alone has batches).
        http: HTTP servers serve MCP; without it they serve the worker and other routes alone.
        path: where they do.
        anonymous: without an authenticator MCP may be served beyond this machine, so that everybody who reaches it can
            use every tool that needs no secrets, tokens or scopes.
        max_sessions: how many sessions there may be over HTTP (revisions before 2026-07-28).
        max_sessions_per_caller: how many of these one caller may have. Callers who are not authenticated are told apart
            by their addresses; this machine's user is not limited.
        session_idle_seconds: after how long without a request a session is forgotten.
        session_store: the store that keeps sessions, by the name of the plugin that offers it. "memory" keeps them in
            this process; sessions in any other store outlive the process.
        event_store: the store that keeps the messages of sessions' streams, by the name of the plugin that offers it.
        max_listening: how many streams there may be, of subscriptions and of sessions, on which changes are told.
        events_bytes: how much is kept of what streams of sessions carried, for clients that lose them; 0 for nothing.
        session_events_bytes: how much of it for one session.
        events_seconds: for how long, after the last message of a stream.
        retry_ms: how long a client is told to wait before it comes back for a stream that has ended (2025-11-25).
        poll_after_seconds: after how long the stream of a call is ended for its client to come back (2025-11-25), where
            something on the way cuts connections that are open for long; 0 for never.
        state_keys: what seals the state that clients carry between the rounds of a call (2026-07-28); the first seals,
            all open. Instances that serve the same clients need the same; with none, each process makes its own. A key
            is chance, 32 characters or more, such as `openssl rand -base64 32` gives.
        state_seconds: how long a client may take to come back with it.
    """

    list_ttl_ms: int = Field(default=300_000, ge=0)
    tools_ttl_ms: int | None = Field(default=None, ge=0)
    resources_ttl_ms: int | None = Field(default=None, ge=0)
    prompts_ttl_ms: int | None = Field(default=None, ge=0)
    max_batch: int = Field(default=100, ge=1)
    http: bool = True
    path: str = Field(default="/mcp", pattern="^/")
    anonymous: Annotated[bool, WidensAccess("lets everybody use MCP beyond this machine")] = False
    max_sessions: int = Field(default=10_000, ge=1)
    max_sessions_per_caller: int = Field(default=1000, ge=1)
    session_idle_seconds: float = Field(default=3600, gt=0)
    session_store: Annotated[str, StoreName(SessionStore)] = "memory"
    event_store: Annotated[str, StoreName(EventStore)] = "memory"
    max_listening: int = Field(default=10_000, ge=1)
    events_bytes: int = Field(default=64 * 1024 * 1024, ge=0)
    session_events_bytes: int = Field(default=1024 * 1024, ge=1)
    events_seconds: float = Field(default=300, gt=0)
    retry_ms: int = Field(default=1000, ge=0)
    poll_after_seconds: float = Field(default=0, ge=0)
    state_keys: tuple[SecretStr, ...] = ()
    state_seconds: float = Field(default=600, gt=0)

    @field_validator("state_keys")
    @classmethod
    def _long_enough(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(key.get_secret_value()) < MIN_KEY_CHARACTERS for key in keys):
            raise ValueError(f"a key has at least {MIN_KEY_CHARACTERS} characters; `openssl rand -base64 32` gives one")
        return keys

    def ttl_ms(self) -> "dict[CacheableResult, int]":
        """For how long clients may keep what, in milliseconds."""
        rest = self.list_ttl_ms
        tools, resources, prompts = (
            rest if one is None else one for one in (self.tools_ttl_ms, self.resources_ttl_ms, self.prompts_ttl_ms)
        )
        return {"tools": tools, "resources": resources, "templates": resources, "prompts": prompts, "discovery": rest}


class McpPlugin(Plugin):
    """Answers MCP on every connection that a transport brings."""

    Config = McpConfig

    @cached_property
    def _round_trips(self) -> "RoundTrips":
        from pegboard_plugins.mcp.round_trips import RoundTrips

        keys = [key.get_secret_value() for key in self.config.state_keys]
        return RoundTrips(keys, self.config.state_seconds)

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        """The one protocol of message streams."""
        from pegboard_plugins.mcp.message_stream import McpProtocol

        return [McpProtocol(self.config, self._round_trips)]

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        """Return the stores in this process's memory."""
        return [
            Store(contract=SessionStore, open=self._sessions, name="memory"),
            Store(contract=EventStore, open=self._events, name="memory"),
        ]

    @asynccontextmanager
    async def _sessions(self) -> AsyncIterator[SessionStore]:
        from pegboard_plugins.mcp.http.memory_store import MemorySessionStore

        yield MemorySessionStore(self.config.max_sessions, self.config.session_idle_seconds)

    @asynccontextmanager
    async def _events(self) -> AsyncIterator[EventStore]:
        from pegboard_plugins.mcp.http.memory_store import MemoryEventStore

        config = self.config
        yield MemoryEventStore(config.events_bytes, config.session_events_bytes, config.events_seconds)

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """The MCP endpoint of HTTP servers; what answers there is imported with the first request."""
        if not self.config.http:
            return []
        from pegboard_plugins.mcp.mcp_endpoint import McpEndpoint

        answer, is_open = McpEndpoint(self.config, self._round_trips).answer, self.config.anonymous
        bare = self.config.path.rstrip("/")
        paths = {bare or "/", f"{bare}/"}
        return [
            Route(method=method, path=path, handler=answer, anonymous=is_open, advice=_ADVICE)
            for path in sorted(paths)
            for method in ("POST", "GET", "DELETE")
        ]
