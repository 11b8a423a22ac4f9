"""Mounted servers: the tools, resources and prompts of other MCP servers, served as if they were local.

Each section `[plugins.upstreams.servers.NAME]` mounts one server. The host keeps one connection to it, or one for each
caller, connects again after a loss, and passes changes of its lists on.
"""

from __future__ import annotations

from pegboard.plugin import Plugin
from pegboard_plugins.upstreams.server_config import UpstreamsConfig


class UpstreamsPlugin(Plugin):
    """The mounted servers."""

    Config = UpstreamsConfig
