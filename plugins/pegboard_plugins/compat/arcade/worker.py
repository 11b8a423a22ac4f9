"""`create_arcade_mcp`, at the path of `arcade_mcp_server.worker`."""

from __future__ import annotations

import os
from typing import Any

from pegboard_plugins.compat.arcade.catalog import ToolCatalog
from pegboard_plugins.compat.arcade.resource_server import ResourceServerAuth
from pegboard_plugins.compat.arcade.server import MCPServer
from pegboard_plugins.compat.arcade.settings import MCPSettings
from pegboard_plugins.compat.fastmcp.http_application import HttpApplication
from pegboard_plugins.compat.missing import missing_names

__getattr__ = missing_names(__name__)


def create_arcade_mcp(
    catalog: ToolCatalog,
    mcp_settings: MCPSettings | None = None,
    *,
    resource_server_validator: ResourceServerAuth | None = None,
    **options: Any,
) -> HttpApplication:
    """Return the tools of a catalog as an ASGI application, for clients on this machine.

    It has the endpoint `/mcp`, and the worker protocol if the variable ARCADE_WORKER_SECRET is set.

    Args:
        catalog: the tools.
        mcp_settings: the settings; those of the environment variables when None.
        resource_server_validator: the authorization servers whose tokens callers need.
        options: further options of `MCPServer`.

    Raises:
        ValueError, TypeError: as `MCPServer` raises them.
        ConfigError: the secret is invalid.
    """
    server = MCPServer(catalog, settings=mcp_settings, auth=resource_server_validator, **options)
    plugins: dict[str, dict[str, Any]] = {"http": {"cors_origins": list(server.allowed_origins or ())}}
    if secret := os.environ.get("ARCADE_WORKER_SECRET"):
        plugins["worker"] = {"secret": secret}
    return HttpApplication(server, plugins)
