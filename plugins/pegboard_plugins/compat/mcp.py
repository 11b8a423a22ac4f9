"""Servers written for the official SDK: `FastMCP` of version 1 and `MCPServer` of version 2.

Change `from mcp.server.fastmcp import FastMCP` to `from pegboard_plugins.compat.mcp import FastMCP`.
docs/migration.md lists the differences.
"""

from pegboard_plugins.compat import fastmcp
from pegboard_plugins.compat.fastmcp import *  # noqa: F403
from pegboard_plugins.compat.fastmcp import MCPServer, types
from pegboard_plugins.compat.fastmcp.server.dependencies import AccessToken
from pegboard_plugins.compat.missing import missing_names

__getattr__ = missing_names(__name__)


AuthSettings = CacheHint = TransportSecuritySettings = types.Object
"""Settings that the host has in `hostconfig.toml`. Those of authentication are refused, the others have no effect."""


class FastMCP(MCPServer):  # type: ignore[no-redef]  # in the place of the other framework's
    """A server written for version 1 of the official SDK."""

    _default_name = "FastMCP"


class TokenVerifier:
    """The base class of checks of tokens. `[plugins.resource_server]` replaces them: `FastMCP` refuses them."""


__all__ = [  # noqa: PLE0604 - names of the other module
    *fastmcp.__all__,
    "AccessToken",
    "AuthSettings",
    "CacheHint",
    "TokenVerifier",
    "TransportSecuritySettings",
    "types",
]
