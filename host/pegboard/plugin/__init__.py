"""The API for authors of plugins: hooks, contracts, and helpers for transports, protocols and authenticators."""

from pegboard.exports import exports

_HOMES = {
    "..hookspecs": "hookimpl",
    "..authoring": "ToolFunction",
    "..authoring.late_toolkit": "LateToolkit Rejections",
    ".base": "Catalogue FoundFile Lifespan Plugin PluginContext",
    ".definition_checks": "CatalogueItem CheckedDefinition DefinitionCheck",
    "..lockfile.catalogue_lock": "CatalogueLock LockFileError LockedDefinition LockedOwner",
    "..lockfile.lock_files": "LOCK_FILE_NAME read_lock",
    "..lockfile.verification": "unlocked_reason",
    ".definitions": "PromptDefinition ResourceDefinition ToolDefinition",
    ".commands": "CommandContext Finding",
    ".secrets": "SecretStore WritableSecretStore",
    ".error_adapters": "ErrorAdapter",
    ".token_sources": "TokenSource",
    ".observers": "Gauge MessageQueues Observer SessionInfo SessionRecorder",
    ".routes": "Authenticator Route RouteHandler",
    ".methods": """
        Contributions Describe Extension Method MethodHandler NotificationHandler Subscribe Subscription Topic
    """,
    ".middleware": "Middleware MiddlewareFunction",
    ".sessions": "EventStore SessionRecord SessionStore",
    ".stores": "Store StoreName",
    ".toolkit_loading": "FoundToolkit ToolkitLoader",
    ".transports": """
        AsgiCallable AsgiContext AsgiReceive AsgiScope AsgiSend Connection ProtocolContext StreamProtocol Transport
        TransportContext
    """,
    "..catalogue.extensions": "require_declared",
    "..middleware.around": "around",
    "..middleware.gate": "Gate",
    "..middleware.login_questions": "LoginQuestions PendingLogin",
    "..config": "WidensAccess others_can_change",
    "..config.file_replacement": "replace_file",
    "..config.state": "create_state state_directory state_lock",
    "..loading.discovery": "Selection",
    "..loading.found_toolkits": "found_toolkits",
    "..wire.session_codec": "decode_session encode_session",
    "..wire.encoded_result": "EncodedResult",
    "..wire.codec": "decode encode",
    "..wire.jsonrpc": """
        INTERNAL_ERROR INVALID_PARAMS INVALID_REQUEST METHOD_NOT_FOUND MISSING_CLIENT_CAPABILITY

    """,
    "..schemas.subschemas": "map_subschemas subschemas",
    "..routing.bearer": "SECRET_BYTES is_bearer_token is_scope is_weak_secret",
    "..routing.browser_pages": "PAGE_HEADERS browser_page foreign_page message_page own_page",
    "..routing.refusal_log": "RefusalLog fingerprint",
    "..secrets.redaction": "redact_logs redacted redacted_data",
    "..runtime.line_file": "LineFile",
    "..runtime.port_owner": "owner_of_port",
    "..adapters.upstream": "Upstream error_code instance_of",
    "..calls.failures": "as_failure",
    "..content.raw_results": "as_tool_result",
    "..messages.texts": "text_problems",
    "..context.rounds": "Rounds",
    "..errors": """
        AuthorizationRequiredError ClientCapabilityError ClientError ClientTimeoutError
        InsufficientScopeError LifespanError MCPContextError MCPRuntimeError PluginError
        ProtocolError RepeatCallError RequestError ResponseError ResultTooLargeError ServerError
        ServerRequestError SessionError ToolInputError ToolInputSchemaError
        ToolRuntimeError ToolkitError
        ToolkitLoadError TransportError
    """,
}
"""The public names for each module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
