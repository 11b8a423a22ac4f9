"""The metadata of tools, under the names of `arcade_mcp_server.metadata`."""

from pegboard import Behavior, Classification, Operation, ServiceDomain, ToolMetadata

__all__ = ["Behavior", "Classification", "Operation", "ServiceDomain", "ToolMetadata"]
