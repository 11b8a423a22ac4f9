"""The kinds of projects, each with its example."""

from __future__ import annotations

from typing import NamedTuple

PREFIXES = {"toolkit": "toolkit-", "plugin": "pegboard-", "server": "mcp-server-"}
"""The beginning of a distribution's name."""

SORTS = {
    "toolkit": "tools that a host serves once it is installed",
    "plugin": "a part of the host, such as a transport, middleware or a command",
    "server": "a program of its own",
}
DEFAULT_KIND = "middleware"


class ProjectKind(NamedTuple):
    """A kind of project.

    Attributes:
        example: the example in docs/examples, which is the code of the project.
        word: the name of the plugin or toolkit in the example.
        summary: a description for users.
        settings: lines of `hostconfig.toml` that enable the plugin; NAME stands for its name.
    """

    example: str
    word: str
    summary: str
    settings: str = "[plugins.NAME]"


TOOLKIT = ProjectKind("simple", "simple", "tools for MCP clients", "")
SERVER = ProjectKind("server", "notes", "tools, resources and prompts for MCP clients", "")

PLUGINS = {
    "transport": ProjectKind(
        example="transport",
        word="unix_lines",
        summary="clients reach the host another way, here by a Unix socket",
        settings='[host]\ntransports = ["NAME"]\n\n[plugins.NAME]\npath = "NAME.sock"',
    ),
    "protocol": ProjectKind(
        example="protocol",
        word="words",
        summary="a protocol other than MCP over sockets and pipes (HTTP: `route`), here lines of text",
        settings='[host]\ndisabled_plugins = ["mcp"]\n\n[plugins.NAME]',
    ),
    "middleware": ProjectKind(
        example="middleware",
        word="signature",
        summary="code around calls, here a line after each result",
        settings='[plugins.NAME]\ntext = "Served by us."',
    ),
    "authenticator": ProjectKind(
        example="authenticator",
        word="api_keys",
        summary="callers of the HTTP endpoint prove their identity, here by an API key",
        settings='[plugins.NAME.keys]\nada = "a long random text"',
    ),
    "error-adapter": ProjectKind(
        "error_adapter", "ftp_errors", "exceptions of a library become errors for models, here ftplib"
    ),
    "auth-provider": ProjectKind("auth_provider", "tracker", "a service whose tokens tools can require"),
    "token-source": ProjectKind(
        example="token_source",
        word="acme",
        summary="a service whose tokens tools can require, and the token of each user",
        settings='[plugins.NAME.tokens]\nada = "token-of-ada"',
    ),
    "secret-store": ProjectKind(
        example="secret_store",
        word="secrets_json",
        summary="a place from which tools receive secrets, here a JSON file",
        settings='[plugins.NAME]\nfile = "secrets.json"',
    ),
    "store": ProjectKind(
        example="session_store",
        word="sqlite_sessions",
        summary="a place that keeps the sessions of HTTP clients, here SQLite",
        settings='[plugins.mcp]\nsession_store = "NAME"\n\n[plugins.NAME]\nfile = "sessions.db"',
    ),
    "method": ProjectKind("method", "clock", "a method that MCP does not have, here `clock/now`"),
    "route": ProjectKind("route", "status", "an HTTP route of the host, here `GET /status`"),
    "observer": ProjectKind(
        "observer", "session_log", "telemetry of sessions and of gauges, here in the log (calls: `middleware`)"
    ),
    "definition-check": ProjectKind(
        "definition_check", "read_only", "a rule for the items that the host serves, here that tools change nothing"
    ),
    "command": ProjectKind("command", "greet", "a command of `pegboard`"),
}
"""The kinds of plugins, by the name that users type."""
