"""Servers written for FastMCP or for `FastMCP` and `MCPServer` of the official SDK.

Change `from fastmcp import FastMCP` or `from mcp.server.fastmcp import FastMCP` to
`from pegboard_plugins.compat.fastmcp import FastMCP`. docs/migration.md lists the differences.
"""

from pegboard_plugins.compat.fastmcp.context import Context, get_context
from pegboard_plugins.compat.fastmcp.elicitation import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
)
from pegboard_plugins.compat.fastmcp.exceptions import (
    MCPError,
    McpError,
    PromptError,
    ResourceError,
    ToolError,
)
from pegboard_plugins.compat.fastmcp.media import Audio, File, Image
from pegboard_plugins.compat.fastmcp.prompts import AssistantMessage, Message, UserMessage
from pegboard_plugins.compat.fastmcp.server import FastMCP
from pegboard_plugins.compat.fastmcp.session import ServerSession

MCPServer = FastMCP
"""The name of the class in version 2 of the official SDK."""

__all__ = [
    "AcceptedElicitation",
    "AssistantMessage",
    "Audio",
    "CancelledElicitation",
    "Context",
    "DeclinedElicitation",
    "FastMCP",
    "File",
    "Image",
    "MCPError",
    "MCPServer",
    "McpError",
    "Message",
    "PromptError",
    "ResourceError",
    "ServerSession",
    "ToolError",
    "UserMessage",
    "get_context",
]
