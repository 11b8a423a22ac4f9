"""What plugins, protocols and the host exchange: immutable records and small protocols.

Nothing here does anything, and nothing here knows MCP's wire format or any transport. Records are named tuples, which
take a tenth of a frozen dataclass's time to define, at every start, and a third to make, at every call. Treat them as
records all the same: name their fields, and change one with `record._replace(...)`.
"""

from pegboard.contracts.calls import (
    ANONYMOUS,
    LOCAL,
    NOTHING,
    UNKNOWN_CLIENT,
    Call,
    Caller,
    CallNext,
    Client,
    Failure,
    Listing,
    Notify,
    Outcome,
    PromptMessage,
    PromptResult,
    RequestId,
    ResourceResult,
    ToolResult,
)
from pegboard.contracts.catalogue import (
    Identity,
    Kind,
    Prompt,
    Resource,
    Tool,
    ToolAnnotations,
)
from pegboard.contracts.http import EventStream, Headers, Request, Response, Route, RouteHandler
from pegboard.contracts.plugins import (
    ErrorAdapter,
    Lifespan,
    Middleware,
    Plugin,
    PluginContext,
    PromptDefinition,
    ResourceDefinition,
    SecretStore,
    ToolDefinition,
)
from pegboard.contracts.streams import (
    Connection,
    ProtocolHost,
    StreamProtocol,
    Transport,
    TransportHost,
)

__all__ = [
    "ANONYMOUS",
    "LOCAL",
    "NOTHING",
    "UNKNOWN_CLIENT",
    "Call",
    "CallNext",
    "Caller",
    "Client",
    "Connection",
    "ErrorAdapter",
    "EventStream",
    "Failure",
    "Headers",
    "Identity",
    "Kind",
    "Lifespan",
    "Listing",
    "Middleware",
    "Notify",
    "Outcome",
    "Plugin",
    "PluginContext",
    "Prompt",
    "PromptDefinition",
    "PromptMessage",
    "PromptResult",
    "ProtocolHost",
    "Request",
    "RequestId",
    "Resource",
    "ResourceDefinition",
    "ResourceResult",
    "Response",
    "Route",
    "RouteHandler",
    "SecretStore",
    "StreamProtocol",
    "Tool",
    "ToolAnnotations",
    "ToolDefinition",
    "ToolResult",
    "Transport",
    "TransportHost",
]
