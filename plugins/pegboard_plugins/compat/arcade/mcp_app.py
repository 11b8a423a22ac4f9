"""`MCPApp` and the names of its transports, at the path of `arcade_mcp_server.mcp_app`."""

from typing import Literal

from pegboard_plugins.compat.arcade.app import MCPApp
from pegboard_plugins.compat.missing import missing_names

TransportType = Literal["http", "stdio"]

__all__ = ["MCPApp", "TransportType"]

__getattr__ = missing_names(__name__)
