"""The error classes, under the names of `arcade_tdk.errors`."""

from pegboard_plugins.compat.arcade.exceptions import (
    ContextRequiredToolError,
    ErrorKind,
    FatalToolError,
    NetworkTransportError,
    RetryableToolError,
    ToolExecutionError,
    ToolRuntimeError,
    UpstreamError,
    UpstreamRateLimitError,
)

__all__ = [
    "ContextRequiredToolError",
    "ErrorKind",
    "FatalToolError",
    "NetworkTransportError",
    "RetryableToolError",
    "SDKError",
    "ToolExecutionError",
    "ToolRuntimeError",
    "UpstreamError",
    "UpstreamRateLimitError",
]


class SDKError(Exception):
    """The former base class of all errors of `arcade_tdk`."""
