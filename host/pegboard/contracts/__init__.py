"""What plugins, protocols and the host exchange: immutable records and small protocols.

Nothing here does anything, and nothing here knows MCP's wire format or any transport. Records are named tuples, which
take a tenth of a frozen dataclass's time to define, at every start, and a third to make, at every call. Treat them as
records all the same: name their fields, and change one with `record._replace(...)`.
"""

from pegboard.contracts.calls import (
    ANONYMOUS,
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
from pegboard.contracts.plugins import (
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
    Serve,
    StreamProtocol,
    Transport,
)

__all__ = [
    "ANONYMOUS",
    "NOTHING",
    "UNKNOWN_CLIENT",
    "Call",
    "CallNext",
    "Caller",
    "Client",
    "Connection",
    "Failure",
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
    "RequestId",
    "Resource",
    "ResourceDefinition",
    "ResourceResult",
    "SecretStore",
    "Serve",
    "StreamProtocol",
    "Tool",
    "ToolAnnotations",
    "ToolDefinition",
    "ToolResult",
    "Transport",
]
