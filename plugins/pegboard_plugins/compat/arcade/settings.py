"""`MCPSettings`: the identity of a server, at the path of `arcade_mcp_server.settings`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NoReturn

from pegboard_plugins.compat.missing import missing_names

__getattr__ = missing_names(__name__)


@dataclass
class ServerSettings:
    """The identity of a server. The defaults are in variables such as MCP_SERVER_NAME."""

    name: str = field(default_factory=lambda: os.environ.get("MCP_SERVER_NAME") or "ArcadeMCP")
    version: str = field(default_factory=lambda: os.environ.get("MCP_SERVER_VERSION") or "0.1.0")
    title: str | None = field(default_factory=lambda: os.environ.get("MCP_SERVER_TITLE"))
    instructions: str | None = field(default_factory=lambda: os.environ.get("MCP_SERVER_INSTRUCTIONS"))


@dataclass
class MCPSettings:
    """The settings of a server. `hostconfig.toml` contains the others."""

    server: ServerSettings = field(default_factory=ServerSettings)

    @classmethod
    def from_env(cls) -> MCPSettings:
        """Return the settings in the environment variables."""
        return cls()

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"MCPSettings.{name} does not exist in pegboard: set it in hostconfig.toml or by a variable, "
            "see docs/environment.md"
        )
