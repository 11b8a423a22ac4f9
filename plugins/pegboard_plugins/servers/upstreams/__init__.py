"""Mounted servers: the tools, resources and prompts of other MCP servers, served as if they were local.

Each section `[plugins.upstreams.servers.NAME]` mounts one server. The host keeps one connection to it, or one for each
caller, connects again after a loss, and passes changes of its lists on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pegboard.plugin import Finding, Gauge, Lifespan, Middleware, Plugin, PluginContext, ToolDefinition, hookimpl
from pegboard_plugins.servers.upstreams.settings import UpstreamsConfig

if TYPE_CHECKING:
    from pegboard_plugins.servers.upstreams.mounted_servers import MountedServers
    from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer


class UpstreamsPlugin(Plugin):
    """The mounted servers.

    Attributes:
        offers, named_providers: see `Plugin`.
    """

    Config = UpstreamsConfig

    def __init__(self, config: UpstreamsConfig) -> None:
        super().__init__(config)
        self.offers = ("tools", "resources", "prompts", "completions") if config.servers else ()
        self.named_providers = {
            ("servers", name, "auth"): server.auth for name, server in config.servers.items() if server.auth
        }
        self._mounted: MountedServers | None = None

    def _servers(self, context: PluginContext) -> MountedServers:
        from pegboard_plugins.servers.upstreams.mounted_servers import MountedServers

        if self._mounted is None:
            self._mounted = MountedServers(self.config, context)
        return self._mounted

    @property
    def servers(self) -> Sequence[UpstreamServer]:
        """The servers; none before the plugin is loaded."""
        return () if self._mounted is None else self._mounted.servers

    def unavailable(self) -> Iterable[str]:
        """Return the servers whose items are not served yet."""
        return [server.name for server in self.servers if not server.memory.are_served]

    def awaits(self, name: str) -> bool:
        """Return True if a server that has not listed its items may have a tool."""
        return self._mounted is not None and self._mounted.awaits(name)

    async def missing_items(self, name: str | None, progress: Callable[[str], None] | None) -> Mapping[str, Finding]:
        """Wait until each server has connected or failed, and return the servers whose items are missing."""
        return {} if self._mounted is None else await self._mounted.missing_items(name, progress)

    @hookimpl
    def register_middleware(self, context: PluginContext) -> Iterable[Middleware]:
        """Return middleware that refuses loops, delays the first lists, and hides items of other users."""
        return self._servers(context).middleware() if self.config.servers else []

    @hookimpl
    def register_tools(self, context: PluginContext) -> Iterable[ToolDefinition]:
        """Return the tools with which callers log in."""
        return self._servers(context).login_tools() if self.config.servers else []

    @hookimpl
    def lifespan(self, context: PluginContext) -> Lifespan:
        """Return the connections, open from the start to the end of the host."""
        return self._servers(context).lifespan()

    @hookimpl
    def register_telemetry(self, context: PluginContext) -> Iterable[Gauge]:
        """Return the state of each server."""
        return [self._servers(context).gauge] if self.config.servers else []
