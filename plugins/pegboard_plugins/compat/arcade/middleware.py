"""The names of `arcade_mcp_server.middleware`, which a plugin replaces. Their ImportError says so."""

from pegboard_plugins.compat.missing import missing_names

__getattr__ = missing_names(__name__)
