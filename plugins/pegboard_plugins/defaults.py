"""The defaults, below hostconfig.toml, and other facts that the host needs without importing a plugin.

A Python module is imported faster than a TOML file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

DEFAULTS: Final[Mapping[str, Any]] = {
    # A section enables a plugin, and so does a place in a list. Only transports and stores of secrets that are used are
    # imported.
    "host": {
        "transports": ["http"],
        "secret_stores": ["secrets_env", "secrets_dotenv", "secrets_files"],
    },
    "plugins": {
        "apps": {},
        "auth_providers": {},
        "errors_google": {},
        "errors_graphql": {},
        "errors_http": {},
        "errors_microsoft": {},
        "errors_slack": {},
        "logging": {},
        "mcp": {},
        "rate_limit": {},
        "static_tokens": {},
    },
    # The route policies of built-in authenticators. If an authenticator is configured but disabled by a glob, a
    # variable or --safe, its policy stays closed. The plugin is not imported to find out.
    "policies": {
        "auth_token": "mcp",
        "login": "mcp",
        "resource_server": "mcp",
        "worker": "worker",
    },
    # the plugin that serves `Host(mount=...)`; each server is a value `object` in its section `servers`
    "mount": {
        "plugin": "upstreams",
    },
    # the commands and transports of built-in plugins, each with its plugin, for messages about unknown names;
    # packages of other frameworks, each with the module that takes its place
    "provided": {
        "commands": {
            "login": "vault",
            "logins": "vault",
            "logout": "vault",
            "whoami": "vault",
            "people": "login",
            "token": "worker",
            "upstreams": "upstreams",
        },
        "transports": {
            "http": "http",
            "stdio": "stdio",
        },
        "imports": {
            "fastmcp": "pegboard_plugins.compat.fastmcp",
            "mcp": "pegboard_plugins.compat.fastmcp",
            "arcade_mcp_server": "pegboard_plugins.compat.arcade",
            "arcade_tdk": "pegboard_plugins.compat.arcade",
        },
    },
    # Environment variables of existing systems that set a key, where no PEGBOARD__ variable does. Plugins declare
    # theirs on their `Config` with `FromEnvironment`. They are repeated here, because a variable may enable a plugin,
    # and a disabled plugin is not imported. docs/environment.md shows these tables.
    "environment": {
        "reserved": ["ARCADE_API_KEY"],  # with `secrets`: secrets that no tool gets
        # the string is the value
        "values": {
            "MCP_SERVER_NAME": "host.name",
            "MCP_SERVER_VERSION": "host.version",
            "MCP_SERVER_TITLE": "host.title",
            "MCP_SERVER_INSTRUCTIONS": "host.instructions",
            "ARCADE_USER_ID": "host.user",
            "ARCADE_SERVER_HOST": "plugins.http.host",
            "ARCADE_SERVER_PORT": "plugins.http.port",
            "MCP_NOTIFICATION_DEFAULT_DEBOUNCE_MS": "plugins.mcp.change_delay_ms",
            "MCP_NOTIFICATION_RATE_LIMIT_PER_MINUTE": "plugins.mcp.changes_per_minute",
            "MCP_RESOURCE_SERVER_CANONICAL_URL": "plugins.resource_server.resource",
            "MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS": "plugins.resource_server.authorization_servers",
            "MCP_RESOURCE_SERVER_SCOPES_SUPPORTED": "plugins.resource_server.scopes_supported",
            "MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES": "plugins.resource_server.challenge_scopes",
            "ARCADE_DEBUG_EXPOSE_DEVELOPER_MESSAGE_IN_TOOL_ERROR_RESPONSES": "plugins.debug_errors.developer_message",
            "ARCADE_DEBUG_EXPOSE_STACKTRACE_IN_TOOL_ERROR_RESPONSES": "plugins.debug_errors.stacktrace",
        },
        # the string is TOML, such as `true`
        "literals": {
            "ARCADE_AUTH_DISABLED": "plugins.worker.auth_disabled",
            "ARCADE_SERVER_RELOAD": "host.reload",
            "MCP_MIDDLEWARE_MASK_ERROR_DETAILS": "plugins.debug_errors.mask_details",
            "ARCADE_MCP_OTEL_ENABLE": "plugins.opentelemetry.enabled",
        },
        # the key refers to the variable, which is never shown
        "secrets": {
            "ARCADE_WORKER_SECRET": "plugins.worker.secret",
        },
        # values separated by commas replace the list
        "choices": {
            "ARCADE_SERVER_TRANSPORT": "host.transports",
        },
        # values separated by commas are added to the list
        "lists": {
            "ARCADE_DISABLED_TOOLS": "host.disabled_tools",
            "ARCADE_DISABLED_TOOLKITS": "host.disabled_toolkits",
        },
        # variables without effect, each with the setting that does the same
        "renamed": {
            "MCP_DEBUG": '[host] log_level = "debug"',
            "MCP_MIDDLEWARE_ENABLE_LOGGING": '[host] disabled_plugins = ["logging"]',
            "MCP_MIDDLEWARE_LOG_LEVEL": "[host] log_level",
            "MCP_TRANSPORT_SESSION_TIMEOUT_SECONDS": "[plugins.mcp] session_idle_seconds",
            "MCP_TRANSPORT_MAX_SESSIONS": "[plugins.mcp] max_sessions",
            "MCP_TRANSPORT_ALLOWED_ORIGINS": "[plugins.http] cors_origins",
            "ARCADE_UVICORN_TIMEOUT_GRACEFUL_SHUTDOWN": "[host] grace_seconds",
            "ARCADE_MCP_DEBUG": '[host] log_level = "debug"',
            "ARCADE_MCP_DISCOVER_INSTALLED": "[host] autoload",
            "ARCADE_MCP_SERVER_NAME": "[host] name",
            "ARCADE_MCP_TOOL_PACKAGE": "[plugins.tool_packages] names",
            "ARCADE_MCP_SERVER_VERSION": "[host] version",
            "ARCADE_MCP_SERVER_TITLE": "[host] title",
            "ARCADE_MCP_SERVER_INSTRUCTIONS": "[host] instructions",
        },
        # variables that only the plugin reads, and only if it is enabled
        "of_plugins": {
            "ARCADE_API_KEY": "arcade_cloud",
            "ARCADE_API_URL": "arcade_cloud",
            "ARCADE_API_BASE_URL": "arcade_cloud",
        },
        # variables without effect, each with the reason
        "unused": {
            "MCP_MIDDLEWARE_ENABLE_ERROR_HANDLING": "errors are always handled",
            "MCP_TRANSPORT_CLEANUP_INTERVAL_SECONDS": "sessions end on time without it",
            "MCP_TRANSPORT_MAX_QUEUE_SIZE": "the length of queues is fixed",
            "MCP_NOTIFICATION_MAX_QUEUED_NOTIFICATIONS": "the length of queues is fixed",
            "ARCADE_CONTEXT": "the host does not use the Arcade service",
            "ARCADE_URL": "the host does not use the Arcade service",
            "ARCADE_DISABLE_AUTOUPDATE": "the host does not look for updates",
            "ARCADE_USAGE_TRACKING": "the host sends no usage data",
            "ARCADE_ENVIRONMENT": "set OTEL_RESOURCE_ATTRIBUTES",
            "ARCADE_MCP_CHILD_PROCESS": "it is internal to arcade-mcp",
            "ARCADE_MCP_SHOW_PACKAGES": "run `pegboard plugins`",
            "ARCADE_TOOL_NAME_SEPARATOR": (
                "the worker protocol always uses a dot, and [host] tool_names changes names over MCP"
            ),
            "ARCADE_WORK_DIR": "set PEGBOARD_STATE_DIR",
        },
    },
    # keys that no longer exist, each with its replacement
    "moved": {
        "host.debug_developer_message": "[plugins.debug_errors] developer_message",
        "host.debug_stacktrace": "[plugins.debug_errors] stacktrace",
    },
}
