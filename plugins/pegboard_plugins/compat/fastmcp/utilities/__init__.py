"""Helpers of servers, at the paths of `fastmcp.utilities`."""
