"""The error classes, under the names of `arcade_mcp_server.exceptions`."""

from pegboard import (
    AuthorizationError,
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
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.plugin import (
    ClientCapabilityError,
    LifespanError,
    MCPContextError,
    MCPRuntimeError,
    ProtocolError,
    RequestError,
    ResponseError,
    ServerError,
    ServerRequestError,
    SessionError,
    ToolRuntimeError,
    TransportError,
)

ElicitationNotSupportedError = ElicitationModeNotSupportedError = ClientCapabilityError
"""Raised if the client cannot show the question."""

__all__ = [
    "AuthorizationError", "ContextRequiredToolError", "ElicitationModeNotSupportedError",
    "ElicitationNotSupportedError", "ErrorKind", "FatalToolError", "LifespanError", "MCPContextError", "MCPError",
    "MCPRuntimeError", "NetworkTransportError", "NotFoundError", "PromptError", "ProtocolError", "RequestError",
    "ResourceError", "ResponseError", "RetryableToolError", "ServerError", "ServerRequestError", "SessionError",
    "ToolExecutionError", "ToolRuntimeError", "TransportError", "UpstreamError", "UpstreamRateLimitError",
]  # fmt: skip
