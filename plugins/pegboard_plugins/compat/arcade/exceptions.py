"""The error classes, under the names of `arcade_mcp_server.exceptions`."""

from pegboard.errors import (
    AuthorizationError,
    ClientCapabilityError,
    ContextRequiredToolError,
    ErrorKind,
    FatalToolError,
    LifespanError,
    MCPContextError,
    MCPError,
    MCPRuntimeError,
    NetworkTransportError,
    NotFoundError,
    PromptError,
    ProtocolError,
    RequestError,
    ResourceError,
    ResponseError,
    RetryableToolError,
    ServerError,
    ServerRequestError,
    SessionError,
    ToolExecutionError,
    ToolRuntimeError,
    TransportError,
    UpstreamError,
    UpstreamRateLimitError,
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
