"""The error classes, under the names of `arcade_mcp_server.exceptions`."""

from pegboard import (
    AuthorizationError,
    ClientCapabilityError,
    ContextRequiredToolError,
    ErrorKind,
    FatalToolError,
    MCPError,
    NetworkTransportError,
    NotFoundError,
    PromptError,
    ResourceError,
    RetryableToolError,
    ToolExecutionError,
    ToolRuntimeError,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.plugin import MCPContextError, ProtocolError, TransportError

ElicitationNotSupportedError = ElicitationModeNotSupportedError = ClientCapabilityError
"""Raised if the client cannot show the question."""
MCPRuntimeError = ServerError = LifespanError = MCPError
SessionError = RequestError = ServerRequestError = ResponseError = MCPError
"""Errors of the server and of its requests. The host does not tell them apart."""

__all__ = [
    "AuthorizationError", "ContextRequiredToolError", "ElicitationModeNotSupportedError",
    "ElicitationNotSupportedError", "ErrorKind", "FatalToolError", "LifespanError", "MCPContextError", "MCPError",
    "MCPRuntimeError", "NetworkTransportError", "NotFoundError", "PromptError", "ProtocolError", "RequestError",
    "ResourceError", "ResponseError", "RetryableToolError", "ServerError", "ServerRequestError", "SessionError",
    "ToolExecutionError", "ToolRuntimeError", "TransportError", "UpstreamError", "UpstreamRateLimitError",
]  # fmt: skip
