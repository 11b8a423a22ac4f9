"""Helpers of servers, at the paths of `fastmcp.utilities`."""

from pegboard_plugins.compat.fastmcp.elsewhere import missing_names

__getattr__ = missing_names(__name__)
