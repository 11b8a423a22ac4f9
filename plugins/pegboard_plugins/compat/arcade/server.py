"""The names of `arcade_mcp_server.server`: use `MCPApp`. Their ImportError says so."""

from pegboard_plugins.compat.missing import missing_names

__getattr__ = missing_names(__name__)
