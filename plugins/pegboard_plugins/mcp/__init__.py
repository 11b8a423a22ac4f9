"""The Model Context Protocol, on message streams and over HTTP, in every revision; each message in its own era."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from pegboard import Plugin, PluginConfig, Route, StreamProtocol, hookimpl


class McpConfig(PluginConfig):
    """`[plugins.mcp]`.

    Attributes:
        list_ttl_ms: for how long clients may keep lists and the discovery answer, in milliseconds (2026-07-28 caching).
        max_batch: how many messages a batch may hold (revision 2025-03-26 alone has batches).
        path: where HTTP servers serve MCP.
        max_sessions: how many sessions there may be over HTTP (revisions before 2026-07-28).
        session_idle_seconds: after how long without a request a session is forgotten.
    """

    list_ttl_ms: int = Field(default=300_000, ge=0)
    max_batch: int = Field(default=100, ge=1)
    path: str = Field(default="/mcp", pattern="^/")
    max_sessions: int = Field(default=10_000, ge=1)
    session_idle_seconds: float = Field(default=3600, gt=0)


class McpPlugin(Plugin):
    """Answers MCP on every connection that a transport brings."""

    Config = McpConfig

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        """The one protocol of message streams."""
        from pegboard_plugins.mcp.protocol import McpProtocol

        return [McpProtocol(self.config.list_ttl_ms, self.config.max_batch)]

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """The MCP endpoint of HTTP servers; what answers there is imported with the first request."""
        from pegboard_plugins.mcp.endpoint import Endpoint

        endpoint = Endpoint(self.config)
        return [Route(method, self.config.path, endpoint.answer) for method in ("POST", "GET", "DELETE")]
