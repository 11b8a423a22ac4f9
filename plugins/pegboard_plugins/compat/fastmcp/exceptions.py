"""Exceptions that servers for FastMCP raise, as errors of pegboard."""

from __future__ import annotations

from typing import Any

import pegboard
from pegboard.plugin import ProtocolError


class FastMCPError(Exception):
    """The base class of the exceptions of FastMCP."""


class ToolError(FastMCPError, pegboard.ToolExecutionError):
    """A tool failed. The model receives the message."""


class ResourceError(FastMCPError, pegboard.ResourceError):
    """A resource cannot be read. The client receives the message."""


class PromptError(FastMCPError, pegboard.PromptError):
    """A prompt cannot be rendered. The client receives the message."""


class NotFoundError(pegboard.NotFoundError):
    """A component does not exist."""


ResourceNotFoundError = NotFoundError


class MCPError(ProtocolError):
    """A JSON-RPC error. `MCPError(code=..., message=...)` and `McpError(ErrorData(...))` construct it."""

    def __init__(self, code: Any = 0, message: str = "", data: Any = None) -> None:
        if not isinstance(code, int):  # ErrorData of version 1
            code, message, data = code.code, code.message, code.data
        super().__init__(code, message, data)


McpError = MCPError
