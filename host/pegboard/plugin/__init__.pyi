# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.adapters.upstream import (
    Upstream,
    error_code,
    instance_of,
)
from pegboard.authoring import (
    ToolFunction,
)
from pegboard.authoring.late_toolkit import (
    LateToolkit,
    Rejections,
)
from pegboard.calls.failures import (
    as_failure,
)
from pegboard.catalogue.extensions import (
    require_declared,
)
from pegboard.config import (
    WidensAccess,
    others_can_change,
)
from pegboard.config.file_replacement import (
    replace_file,
)
from pegboard.config.state import (
    create_state,
    state_directory,
    state_lock,
)
from pegboard.content.raw_results import (
    as_tool_result,
)
from pegboard.context.rounds import (
    Rounds,
)
from pegboard.errors import (
    AuthorizationRequiredError,
    ClientCapabilityError,
    ClientError,
    ClientTimeoutError,
    InsufficientScopeError,
    LifespanError,
    MCPContextError,
    MCPRuntimeError,
    PluginError,
    ProtocolError,
    RepeatCallError,
    RequestError,
    ResponseError,
    ResultTooLargeError,
    ServerError,
    ServerRequestError,
    SessionError,
    ToolInputError,
    ToolInputSchemaError,
    ToolRuntimeError,
    ToolkitError,
    ToolkitLoadError,
    TransportError,
)
from pegboard.hookspecs import (
    hookimpl,
)
from pegboard.loading.discovery import (
    Selection,
)
from pegboard.loading.found_toolkits import (
    found_toolkits,
)
from pegboard.lockfile.catalogue_lock import (
    CatalogueLock,
    LockFileError,
    LockedDefinition,
    LockedOwner,
)
from pegboard.lockfile.lock_files import (
    LOCK_FILE_NAME,
    read_lock,
)
from pegboard.lockfile.verification import (
    unlocked_reason,
)
from pegboard.messages.texts import (
    text_problems,
)
from pegboard.middleware.around import (
    around,
)
from pegboard.middleware.gate import (
    Gate,
)
from pegboard.middleware.login_questions import (
    LoginQuestions,
    PendingLogin,
)
from pegboard.plugin.base import (
    Catalogue,
    FoundFile,
    Lifespan,
    Plugin,
    PluginContext,
)
from pegboard.plugin.commands import (
    CommandContext,
    Finding,
)
from pegboard.plugin.definition_checks import (
    CatalogueItem,
    CheckedDefinition,
    DefinitionCheck,
)
from pegboard.plugin.definitions import (
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
)
from pegboard.plugin.error_adapters import (
    ErrorAdapter,
)
from pegboard.plugin.methods import (
    Contributions,
    Describe,
    Extension,
    Method,
    MethodHandler,
    NotificationHandler,
    Subscribe,
    Subscription,
    Topic,
)
from pegboard.plugin.middleware import (
    Middleware,
    MiddlewareFunction,
)
from pegboard.plugin.observers import (
    Gauge,
    MessageQueues,
    Observer,
    SessionInfo,
    SessionRecorder,
)
from pegboard.plugin.routes import (
    Authenticator,
    Route,
    RouteHandler,
)
from pegboard.plugin.secrets import (
    SecretStore,
    WritableSecretStore,
)
from pegboard.plugin.sessions import (
    EventStore,
    SessionRecord,
    SessionStore,
)
from pegboard.plugin.stores import (
    Store,
    StoreName,
)
from pegboard.plugin.token_sources import (
    TokenSource,
)
from pegboard.plugin.toolkit_loading import (
    FoundToolkit,
    ToolkitLoader,
)
from pegboard.plugin.transports import (
    AsgiCallable,
    AsgiContext,
    AsgiReceive,
    AsgiScope,
    AsgiSend,
    Connection,
    ProtocolContext,
    StreamProtocol,
    Transport,
    TransportContext,
)
from pegboard.routing.bearer import (
    SECRET_BYTES,
    is_bearer_token,
    is_scope,
    is_weak_secret,
)
from pegboard.routing.browser_pages import (
    PAGE_HEADERS,
    browser_page,
    foreign_page,
    message_page,
    own_page,
)
from pegboard.routing.refusal_log import (
    RefusalLog,
    fingerprint,
)
from pegboard.runtime.line_file import (
    LineFile,
)
from pegboard.runtime.port_owner import (
    owner_of_port,
)
from pegboard.schemas.subschemas import (
    map_subschemas,
    subschemas,
)
from pegboard.secrets.redaction import (
    redact_logs,
    redacted,
    redacted_data,
)
from pegboard.wire.codec import (
    decode,
    encode,
)
from pegboard.wire.encoded_result import (
    EncodedResult,
)
from pegboard.wire.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
)
from pegboard.wire.session_codec import (
    decode_session,
    encode_session,
)

__all__ = [
    "AsgiCallable",
    "AsgiContext",
    "AsgiReceive",
    "AsgiScope",
    "AsgiSend",
    "Authenticator",
    "AuthorizationRequiredError",
    "Catalogue",
    "CatalogueItem",
    "CatalogueLock",
    "CheckedDefinition",
    "ClientCapabilityError",
    "ClientError",
    "ClientTimeoutError",
    "CommandContext",
    "Connection",
    "Contributions",
    "DefinitionCheck",
    "Describe",
    "EncodedResult",
    "ErrorAdapter",
    "EventStore",
    "Extension",
    "Finding",
    "FoundFile",
    "FoundToolkit",
    "Gate",
    "Gauge",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "InsufficientScopeError",
    "LOCK_FILE_NAME",
    "LateToolkit",
    "Lifespan",
    "LifespanError",
    "LineFile",
    "LockFileError",
    "LockedDefinition",
    "LockedOwner",
    "LoginQuestions",
    "MCPContextError",
    "MCPRuntimeError",
    "METHOD_NOT_FOUND",
    "MISSING_CLIENT_CAPABILITY",
    "MessageQueues",
    "Method",
    "MethodHandler",
    "Middleware",
    "MiddlewareFunction",
    "NotificationHandler",
    "Observer",
    "PAGE_HEADERS",
    "PendingLogin",
    "Plugin",
    "PluginContext",
    "PluginError",
    "PromptDefinition",
    "ProtocolContext",
    "ProtocolError",
    "RefusalLog",
    "Rejections",
    "RepeatCallError",
    "RequestError",
    "ResourceDefinition",
    "ResponseError",
    "ResultTooLargeError",
    "Rounds",
    "Route",
    "RouteHandler",
    "SECRET_BYTES",
    "SecretStore",
    "Selection",
    "ServerError",
    "ServerRequestError",
    "SessionError",
    "SessionInfo",
    "SessionRecord",
    "SessionRecorder",
    "SessionStore",
    "Store",
    "StoreName",
    "StreamProtocol",
    "Subscribe",
    "Subscription",
    "TokenSource",
    "ToolDefinition",
    "ToolFunction",
    "ToolInputError",
    "ToolInputSchemaError",
    "ToolRuntimeError",
    "ToolkitError",
    "ToolkitLoadError",
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
    "browser_page",
    "create_state",
    "decode",
    "decode_session",
    "encode",
    "encode_session",
    "error_code",
    "fingerprint",
    "foreign_page",
    "found_toolkits",
    "hookimpl",
    "instance_of",
    "is_bearer_token",
    "is_scope",
    "is_weak_secret",
    "map_subschemas",
    "message_page",
    "others_can_change",
    "own_page",
    "owner_of_port",
    "read_lock",
    "redact_logs",
    "redacted",
    "redacted_data",
    "replace_file",
    "require_declared",
    "state_directory",
    "state_lock",
    "subschemas",
    "text_problems",
    "unlocked_reason",
]
