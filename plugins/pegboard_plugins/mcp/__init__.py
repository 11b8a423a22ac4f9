"""The Model Context Protocol on message streams, in every revision; each message is served in its own era."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import Plugin, PluginConfig, StreamProtocol, hookimpl


class McpConfig(PluginConfig):
    """`[plugins.mcp]`.

    Attributes:
        list_ttl_ms: for how long clients may keep lists and the discovery answer, in milliseconds (2026-07-28 caching).
        max_batch: how many messages a batch may hold (revision 2025-03-26 alone has batches).
    """

    list_ttl_ms: int = 300_000
    max_batch: int = 100


class McpPlugin(Plugin):
    """Answers MCP on every connection that a transport brings."""

    Config = McpConfig

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        """The one protocol of message streams."""
        from pegboard_plugins.mcp.protocol import McpProtocol

        return [McpProtocol(self.config.list_ttl_ms, self.config.max_batch)]
