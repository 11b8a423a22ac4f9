"""The API for authors of plugins: hooks, contracts, and helpers for transports, protocols and authenticators."""

from pegboard.exports import exports

_HOMES = {
    "..hookspecs": "hookimpl",
    "..authoring": "ToolFunction",
    "..authoring.late_toolkit": "LateToolkit",
    ".bus": "Bus",
    ".base": "Catalogue Lifespan Plugin PluginContext",
    ".definition_checks": "CheckedDefinition DefinitionCheck",
    ".definitions": "ContentFolder PromptDefinition ResourceDefinition ToolDefinition",
    ".commands": "CommandContext CommandDescription Finding RequestedSecret RunningWorkers",
    ".secrets": "SecretStore TokenSource WritableSecretStore",
    ".error_adapters": "ErrorAdapter",
    ".observers": "Gauge Observer SessionInfo",
    ".routes": "Authenticator Route",
    ".methods": """
        Contributions Extension Method NotificationHandler Subscription Topic
    """,
    ".middleware": "Middleware MiddlewareFunction",
    ".stores": "LoginPage LoginStore LoginTerms Record RecordStore Store",
    ".sessions": "EventStore SessionStore",
    ".toolkit_loading": "FoundToolkit ToolkitLoader",
    ".transports": """
        AsgiCallable Connection ProtocolContext StreamProtocol Transport TransportContext
    """,
    "..middleware.chain": "around",
    "..middleware.gate": "Gate",
    "..config": "SharedKeys StoreName WidensAccess",
    "..config.state": "StateFiles",
    "..loading.found_toolkits": "found_toolkits",
    "..wire.codec": "decode encode",
    "..secrets.redaction": "redact_logs redacted",
    "..adapters.upstream": "Upstream instance_of",
    "..calls.failures": "as_failure",
    "..content.function_results": "as_tool_result with_text",
    "..messages.texts": "text_problems",
    "..context.rounds": "Rounds",
    "..errors": "PluginError ProtocolError TransportError",
}
"""The public names for each module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
