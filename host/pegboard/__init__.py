"""pegboard: a host for Model Context Protocol tool servers, in which every feature is a plugin.

This module is the public API and nothing else. Names are loaded on first use, so that importing one stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.codec import decode, encode, has_duplicate_keys
    from pegboard.config import HostConfig, PluginConfig
    from pegboard.context import Context, Progress, current_context
    from pegboard.contracts import (
        ANONYMOUS,
        NOTHING,
        UNKNOWN_CLIENT,
        Call,
        Caller,
        CallNext,
        Client,
        Connection,
        Failure,
        Identity,
        Kind,
        Lifespan,
        Listing,
        Middleware,
        Notify,
        Outcome,
        Plugin,
        PluginContext,
        Prompt,
        PromptDefinition,
        PromptMessage,
        PromptResult,
        ProtocolHost,
        RequestId,
        Resource,
        ResourceDefinition,
        ResourceResult,
        SecretStore,
        Serve,
        StreamProtocol,
        Tool,
        ToolAnnotations,
        ToolDefinition,
        ToolResult,
        Transport,
    )
    from pegboard.discovery import Selection
    from pegboard.errors import (
        AuthorizationError,
        ConfigError,
        ContextRequiredToolError,
        ErrorKind,
        FatalToolError,
        MCPContextError,
        MCPError,
        McpError,
        MCPRuntimeError,
        NetworkTransportError,
        NotFoundError,
        PluginError,
        PromptError,
        ProtocolError,
        ResourceError,
        RetryableToolError,
        ServerError,
        ToolDefinitionError,
        ToolError,
        ToolExecutionError,
        ToolInputError,
        ToolInputSchemaError,
        ToolkitError,
        ToolkitLoadError,
        ToolOutputError,
        ToolOutputSchemaError,
        ToolRuntimeError,
        ToolSerializationError,
        TransportError,
        UpstreamError,
        UpstreamRateLimitError,
    )
    from pegboard.hookspecs import HOST_API, hookimpl
    from pegboard.host import Host
    from pegboard.jsonrpc import jsonrpc_error, jsonrpc_notification, jsonrpc_result
    from pegboard.toolkit import Toolkit

_NAMES = {
    "codec": "decode encode has_duplicate_keys",
    "config": "HostConfig PluginConfig",
    "context": "Context Progress current_context",
    "contracts": (
        "ANONYMOUS NOTHING UNKNOWN_CLIENT Call CallNext Caller Client Connection Failure Identity Kind Lifespan Listing "
        "Middleware Notify Outcome Plugin PluginContext Prompt PromptDefinition PromptMessage PromptResult ProtocolHost "
        "RequestId Resource ResourceDefinition ResourceResult SecretStore Serve StreamProtocol Tool ToolAnnotations "
        "ToolDefinition ToolResult Transport"
    ),
    "discovery": "Selection",
    "errors": (
        "AuthorizationError ConfigError ContextRequiredToolError ErrorKind FatalToolError MCPContextError MCPError "
        "MCPRuntimeError McpError NetworkTransportError NotFoundError PluginError PromptError ProtocolError ResourceError "
        "RetryableToolError ServerError ToolDefinitionError ToolError ToolExecutionError ToolInputError "
        "ToolInputSchemaError ToolOutputError ToolOutputSchemaError ToolRuntimeError ToolSerializationError ToolkitError "
        "ToolkitLoadError TransportError UpstreamError UpstreamRateLimitError"
    ),
    "hookspecs": "HOST_API hookimpl",
    "host": "Host",
    "jsonrpc": "jsonrpc_error jsonrpc_notification jsonrpc_result",
    "toolkit": "Toolkit",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [  # noqa: PLE0604 - kept by tests: every name exists, sorted, and nothing else is public
    *sorted(_HOMES),
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
