# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.adapters.upstream import (
    Upstream,
    instance_of,
)
from pegboard.authoring import (
    ToolFunction,
)
from pegboard.authoring.late_toolkit import (
    LateToolkit,
)
from pegboard.calls.failures import (
    as_failure,
)
from pegboard.config import (
    SharedKeys,
    StoreName,
    WidensAccess,
)
from pegboard.config.state import (
    StateFiles,
)
from pegboard.content.function_results import (
    as_tool_result,
    with_text,
)
from pegboard.context.rounds import (
    Rounds,
)
from pegboard.errors import (
    PluginError,
    ProtocolError,
    TransportError,
)
from pegboard.hookspecs import (
    hookimpl,
)
from pegboard.loading.found_toolkits import (
    found_toolkits,
)
from pegboard.messages.texts import (
    text_problems,
)
from pegboard.middleware.chain import (
    around,
)
from pegboard.middleware.gate import (
    Gate,
)
from pegboard.plugin.base import (
    Catalogue,
    Lifespan,
    Plugin,
    PluginContext,
)
from pegboard.plugin.bus import (
    Bus,
)
from pegboard.plugin.commands import (
    CommandContext,
    CommandDescription,
    Finding,
    RequestedSecret,
    RunningWorkers,
)
from pegboard.plugin.definition_checks import (
    CheckedDefinition,
    DefinitionCheck,
)
from pegboard.plugin.definitions import (
    ContentFolder,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
)
from pegboard.plugin.error_adapters import (
    ErrorAdapter,
)
from pegboard.plugin.methods import (
    Contributions,
    Extension,
    Method,
    NotificationHandler,
    Subscription,
    Topic,
)
from pegboard.plugin.middleware import (
    Middleware,
    MiddlewareFunction,
)
from pegboard.plugin.observers import (
    Gauge,
    Observer,
    SessionInfo,
)
from pegboard.plugin.routes import (
    Authenticator,
    Route,
)
from pegboard.plugin.secrets import (
    SecretStore,
    TokenSource,
    WritableSecretStore,
)
from pegboard.plugin.sessions import (
    EventStore,
    SessionStore,
)
from pegboard.plugin.stores import (
    LoginPage,
    LoginStore,
    LoginTerms,
    Record,
    RecordStore,
    Store,
)
from pegboard.plugin.toolkit_loading import (
    FoundToolkit,
    ToolkitLoader,
)
from pegboard.plugin.transports import (
    AsgiCallable,
    Connection,
    ProtocolContext,
    StreamProtocol,
    Transport,
    TransportContext,
)
from pegboard.secrets.redaction import (
    redact_logs,
    redacted,
)
from pegboard.wire.codec import (
    decode,
    encode,
)

__all__ = [
    "AsgiCallable",
    "Authenticator",
    "Bus",
    "Catalogue",
    "CheckedDefinition",
    "CommandContext",
    "CommandDescription",
    "Connection",
    "ContentFolder",
    "Contributions",
    "DefinitionCheck",
    "ErrorAdapter",
    "EventStore",
    "Extension",
    "Finding",
    "FoundToolkit",
    "Gate",
    "Gauge",
    "LateToolkit",
    "Lifespan",
    "LoginPage",
    "LoginStore",
    "LoginTerms",
    "Method",
    "Middleware",
    "MiddlewareFunction",
    "NotificationHandler",
    "Observer",
    "Plugin",
    "PluginContext",
    "PluginError",
    "PromptDefinition",
    "ProtocolContext",
    "ProtocolError",
    "Record",
    "RecordStore",
    "RequestedSecret",
    "ResourceDefinition",
    "Rounds",
    "Route",
    "RunningWorkers",
    "SecretStore",
    "SessionInfo",
    "SessionStore",
    "SharedKeys",
    "StateFiles",
    "Store",
    "StoreName",
    "StreamProtocol",
    "Subscription",
    "TokenSource",
    "ToolDefinition",
    "ToolFunction",
    "ToolkitLoader",
    "Topic",
    "Transport",
    "TransportContext",
    "TransportError",
    "Upstream",
    "WidensAccess",
    "WritableSecretStore",
    "around",
    "as_failure",
    "as_tool_result",
    "decode",
    "encode",
    "found_toolkits",
    "hookimpl",
    "instance_of",
    "redact_logs",
    "redacted",
    "text_problems",
    "with_text",
]
