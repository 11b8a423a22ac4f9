"""Servers written for FastMCP or for `FastMCP` and `MCPServer` of the official SDK.

Change `from fastmcp import FastMCP` or `from mcp.server.fastmcp import FastMCP` to
`from pegboard_plugins.compat.fastmcp import FastMCP`. docs/migration.md lists the differences.
"""

from pegboard_plugins.compat.fastmcp.context import Context, get_context
from pegboard_plugins.compat.fastmcp.dependencies import CurrentContext, Depends
from pegboard_plugins.compat.fastmcp.elicitation import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
    ElicitationResult,
)
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.exceptions import (
    MCPError,
    McpError,
    PromptError,
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UrlElicitationRequiredError,
)
from pegboard_plugins.compat.fastmcp.media import Audio, File, Image
from pegboard_plugins.compat.fastmcp.prompts import AssistantMessage, Message, Prompt, UserMessage
from pegboard_plugins.compat.fastmcp.resolvers import Elicit, ListRoots, Resolve, Sample
from pegboard_plugins.compat.fastmcp.results import ToolResult
from pegboard_plugins.compat.fastmcp.server import FastMCP, MCPServer
from pegboard_plugins.compat.fastmcp.session import ServerSession
from pegboard_plugins.compat.fastmcp.types import Icon

__getattr__ = missing_names(__name__)

__all__ = [
    "AcceptedElicitation",
    "AssistantMessage",
    "Audio",
    "CancelledElicitation",
    "Context",
    "CurrentContext",
    "DeclinedElicitation",
    "Depends",
    "Elicit",
    "ElicitationResult",
    "FastMCP",
    "File",
    "Icon",
    "Image",
    "ListRoots",
    "MCPError",
    "MCPServer",
    "McpError",
    "Message",
    "Prompt",
    "PromptError",
    "Resolve",
    "ResourceError",
    "ResourceNotFoundError",
    "Sample",
    "ServerSession",
    "ToolError",
    "ToolResult",
    "UrlElicitationRequiredError",
    "UserMessage",
    "get_context",
]
