"""pegboard: a host for Model Context Protocol tool servers, in which every feature is a plugin.

This module is the public API and nothing else. Names are loaded on first use, so that importing one stays cheap.
"""

from importlib import import_module

# `python -m pegboard` would import `typing` and `__future__` from the working directory: neither is imported here
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pegboard.audit import AuditLog, fingerprint
    from pegboard.authoring import ToolFunction, tool
    from pegboard.bearer import SECRET_BYTES, BearerScheme, checked_scopes, is_bearer_token, is_scope, is_weak_secret
    from pegboard.calls.failures import as_failure
    from pegboard.codec import REPEATED_MEMBERS, decode, decode_message, encode
    from pegboard.config import HostConfig, PluginConfig, Widens, others_can_change
    from pegboard.config.state import create_state
    from pegboard.context import Context, Progress, current_context
    from pegboard.context.elicitation import Elicited
    from pegboard.context.questions import Elicit, ElicitUrl, ListRoots, Root, Sample, Sampled
    from pegboard.context.rounds import Rounds
    from pegboard.contracts import *
    from pegboard.contracts.content import (
        Annotations,
        AudioContent,
        Content,
        EmbeddedResource,
        Icon,
        ImageContent,
        ResourceLink,
        Role,
        TextContent,
    )
    from pegboard.contracts.inferrable import Inferrable
    from pegboard.contracts.metadata import Behavior, Classification, Operation, ServiceDomain, ToolMetadata
    from pegboard.errors import *
    from pegboard.hookspecs import HOST_API, hookimpl
    from pegboard.host import Host
    from pegboard.jsonrpc import jsonrpc_error, jsonrpc_notification, jsonrpc_result
    from pegboard.line_file import LineFile
    from pegboard.loading.discovery import Selection
    from pegboard.middleware import Gate, around
    from pegboard.redaction import redact_logs, redacted, redacted_data
    from pegboard.retry_after import retry_after_ms
    from pegboard.toolkit import Toolkit
    from pegboard.upstream import Upstream, error_code, instance_of

__all__ = [
    "ANONYMOUS",
    "FIRST_ROUND",
    "HOST_API",
    "LOCAL",
    "NOTHING",
    "REPEATED_MEMBERS",
    "SECRET_BYTES",
    "UI_EXTENSION",
    "UI_MIME_TYPE",
    "UI_SCHEME",
    "UNKNOWN_CLIENT",
    "Annotations",
    "Ask",
    "AudioContent",
    "AuditLog",
    "AuthProvider",
    "Authenticator",
    "Authorization",
    "AuthorizationError",
    "AuthorizationRequiredError",
    "BearerScheme",
    "Behavior",
    "Call",
    "CallNext",
    "Caller",
    "Catalogue",
    "Change",
    "Classification",
    "Client",
    "ClientCapabilityError",
    "ClientError",
    "ClientTimeoutError",
    "Command",
    "Completion",
    "ConfigError",
    "Connection",
    "Content",
    "Context",
    "ContextRequiredToolError",
    "Contributed",
    "Describe",
    "Elicit",
    "ElicitUrl",
    "Elicited",
    "EmbeddedResource",
    "ErrorAdapter",
    "ErrorKind",
    "EventStore",
    "EventStream",
    "Extension",
    "Failure",
    "FatalToolError",
    "Gate",
    "Headers",
    "Host",
    "HostConfig",
    "Icon",
    "Identity",
    "ImageContent",
    "Inferrable",
    "Inlined",
    "InputRequired",
    "InsufficientScopeError",
    "InteractionError",
    "Inventory",
    "Kind",
    "Lifespan",
    "LineFile",
    "ListRoots",
    "Listing",
    "MCPContextError",
    "MCPError",
    "MCPRuntimeError",
    "McpError",
    "Method",
    "MethodHandler",
    "MethodResult",
    "Middleware",
    "MiddlewareFunction",
    "Mirrored",
    "NetworkTransportError",
    "NotFoundError",
    "NotificationHandler",
    "Notify",
    "OnProgress",
    "Operation",
    "Outcome",
    "Plugin",
    "PluginConfig",
    "PluginContext",
    "PluginError",
    "Progress",
    "Prompt",
    "PromptArgument",
    "PromptDefinition",
    "PromptError",
    "PromptMessage",
    "PromptResult",
    "ProtocolError",
    "ProtocolHost",
    "Question",
    "Request",
    "RequestId",
    "Resource",
    "ResourceContents",
    "ResourceDefinition",
    "ResourceError",
    "ResourceLink",
    "ResourceResult",
    "ResourceTemplate",
    "ResourceUi",
    "Response",
    "RetryableToolError",
    "Role",
    "Root",
    "Round",
    "Rounds",
    "Route",
    "RouteHandler",
    "Sample",
    "Sampled",
    "SecretStore",
    "Selection",
    "ServerError",
    "ServerSentEvent",
    "ServiceDomain",
    "SessionRecord",
    "SessionStore",
    "Store",
    "StoreOf",
    "StreamProtocol",
    "Subscribe",
    "Subscribed",
    "Supplied",
    "TextContent",
    "TokenRequest",
    "TokenSource",
    "Tool",
    "ToolAnnotations",
    "ToolAuthorization",
    "ToolDefinition",
    "ToolDefinitionError",
    "ToolError",
    "ToolExecutionError",
    "ToolFunction",
    "ToolInputError",
    "ToolInputSchemaError",
    "ToolMetadata",
    "ToolOutputError",
    "ToolOutputSchemaError",
    "ToolRequirements",
    "ToolResult",
    "ToolRuntimeError",
    "ToolSerializationError",
    "ToolTimeoutError",
    "ToolUi",
    "Toolkit",
    "ToolkitError",
    "ToolkitLoadError",
    "Topic",
    "Transport",
    "TransportError",
    "TransportHost",
    "Upstream",
    "UpstreamError",
    "UpstreamRateLimitError",
    "Widens",
    "around",
    "as_failure",
    "checked_scopes",
    "create_state",
    "current_context",
    "decode",
    "decode_message",
    "encode",
    "error_code",
    "fingerprint",
    "hookimpl",
    "instance_of",
    "is_bearer_token",
    "is_scope",
    "is_weak_secret",
    "jsonrpc_error",
    "jsonrpc_notification",
    "jsonrpc_result",
    "others_can_change",
    "redact_logs",
    "redacted",
    "redacted_data",
    "retry_after_ms",
    "tool",
]

_NAMES = {
    "audit": "AuditLog fingerprint",
    "authoring": "ToolFunction tool",
    "bearer": "BearerScheme SECRET_BYTES checked_scopes is_bearer_token is_scope is_weak_secret",
    "codec": "REPEATED_MEMBERS decode decode_message encode",
    "config": "HostConfig PluginConfig Widens others_can_change",
    "config.state": "create_state",
    "context": "Context Progress current_context",
    "context.questions": "Elicit ElicitUrl ListRoots Root Sample Sampled",
    "contracts": """
        ANONYMOUS FIRST_ROUND LOCAL NOTHING UI_EXTENSION UI_MIME_TYPE UI_SCHEME UNKNOWN_CLIENT Ask AuthProvider
        Authenticator Authorization Call CallNext Caller Catalogue Change Client Completion Connection Contributed
        Describe ErrorAdapter EventStore EventStream Extension Failure Headers Identity Inlined InputRequired
        Inventory Kind Lifespan Listing Method MethodHandler MethodResult Middleware MiddlewareFunction Mirrored
        NotificationHandler Notify OnProgress Outcome Plugin PluginContext Prompt PromptArgument PromptDefinition
        PromptMessage PromptResult ProtocolHost Question Request RequestId Resource ResourceContents
        ResourceDefinition ResourceResult ResourceTemplate ResourceUi Response Round Route RouteHandler SecretStore
        ServerSentEvent SessionRecord SessionStore Store StoreOf StreamProtocol Subscribe Subscribed Supplied
        TokenRequest TokenSource Tool ToolAnnotations ToolAuthorization ToolDefinition ToolRequirements ToolResult
        ToolUi Topic Transport TransportHost Command
    """,
    "contracts.content": """
        Annotations AudioContent Content EmbeddedResource Icon ImageContent ResourceLink Role TextContent
    """,
    "contracts.inferrable": "Inferrable",
    "contracts.metadata": "Behavior Classification Operation ServiceDomain ToolMetadata",
    "loading.discovery": "Selection",
    "middleware": "Gate around",
    "context.elicitation": "Elicited",
    "errors": """
        AuthorizationError AuthorizationRequiredError ClientCapabilityError ClientError ClientTimeoutError
        ConfigError ContextRequiredToolError ErrorKind FatalToolError InsufficientScopeError InteractionError
        MCPContextError MCPError MCPRuntimeError McpError NetworkTransportError NotFoundError PluginError
        PromptError ProtocolError ResourceError RetryableToolError ServerError ToolDefinitionError ToolError
        ToolExecutionError ToolInputError ToolInputSchemaError ToolOutputError ToolOutputSchemaError
        ToolRuntimeError ToolSerializationError ToolTimeoutError ToolkitError ToolkitLoadError TransportError
        UpstreamError UpstreamRateLimitError
    """,
    "calls.failures": "as_failure",
    "hookspecs": "HOST_API hookimpl",
    "host": "Host",
    "jsonrpc": "jsonrpc_error jsonrpc_notification jsonrpc_result",
    "line_file": "LineFile",
    "redaction": "redact_logs redacted redacted_data",
    "retry_after": "retry_after_ms",
    "context.rounds": "Rounds",
    "toolkit": "Toolkit",
    "upstream": "Upstream error_code instance_of",
}
"""The names that each module is the home of."""

_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
"""Which module each name lives in."""


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
