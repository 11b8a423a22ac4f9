"""Exceptions that servers for FastMCP raise, as errors of pegboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard import NotFoundError as HostNotFoundError
from pegboard import PromptError as HostPromptError
from pegboard import ResourceError as HostResourceError
from pegboard import ToolExecutionError as HostToolExecutionError
from pegboard.plugin import ProtocolError
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.types import URL_ELICITATION_REQUIRED, plain

__getattr__ = missing_names(__name__)


class FastMCPError(Exception):
    """The base class of the exceptions of FastMCP."""


class ToolError(FastMCPError, HostToolExecutionError):
    """A tool failed. The model receives the message."""


class ValidationError(ToolError):
    """Arguments or a result are invalid. The model receives the message."""


class AuthorizationError(ToolError):
    """The caller may not do this. The model receives the message."""


class ResourceError(FastMCPError, HostResourceError):
    """A resource cannot be read. The client receives the message."""


class PromptError(FastMCPError, HostPromptError):
    """A prompt cannot be rendered. The client receives the message."""


class NotFoundError(HostNotFoundError):
    """A component does not exist."""


ResourceNotFoundError = NotFoundError


class MCPError(ProtocolError):
    """A JSON-RPC error. `MCPError(code=..., message=...)` and `McpError(ErrorData(...))` construct it."""

    def __init__(self, code: Any = 0, message: str = "", data: Any = None) -> None:
        if not isinstance(code, int):  # ErrorData of version 1
            code, message, data = code.code, code.message, code.data
        super().__init__(code, message, data)


McpError = MCPError


class UrlElicitationRequiredError(MCPError):
    """The user must open pages before the call can succeed.

    Args:
        elicitations: the parameters of the URL elicitations (ElicitRequestURLParams).
        message: the message for the user.
    """

    def __init__(self, elicitations: Sequence[Any], message: str = "URL elicitation required") -> None:
        super().__init__(
            URL_ELICITATION_REQUIRED, message, {"elicitations": [plain(elicitation) for elicitation in elicitations]}
        )
