"""MCP clients with a documented configuration file, each with the URL of the documentation."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class McpClient(NamedTuple):
    """A client and the format of its entries.

    Attributes:
        name: its name on the command line.
        title: its name for people.
        source: the documentation of its format.
        servers: the name of the object that has an entry for each server.
        user_file: returns the file of the user, or None if the documentation names none for this platform.
        project_file: the file of a project, or "" if the client has none.
        stdio: further members of an entry with a command.
        http: further members of an entry with a URL.
        url: the name of the URL in an entry, or "" if the file has no entries with URLs.
        headers: the name of the HTTP headers in an entry.
    """

    name: str
    title: str
    source: str
    servers: str
    user_file: Callable[[], Path | None]
    project_file: str = ""
    stdio: Mapping[str, str] = MappingProxyType({})
    http: Mapping[str, str] = MappingProxyType({})
    url: str = "url"
    headers: str = "headers"


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _application_data(*parts: str) -> Path:
    """Return a file in the folder where applications keep their settings."""
    if sys.platform == "darwin":
        return Path.home().joinpath("Library", "Application Support", *parts)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming", *parts)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", *parts)


def _claude_desktop() -> Path | None:
    documented = sys.platform in ("darwin", "win32")
    return _application_data("Claude", "claude_desktop_config.json") if documented else None


def _codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex", "config.toml")


def _zed() -> Path:
    if sys.platform == "win32":
        return _application_data("Zed", "settings.json")
    own = os.environ.get("XDG_CONFIG_HOME") if sys.platform != "darwin" else None
    return Path(own or Path.home() / ".config", "zed", "settings.json")


_CLIENTS = (
    McpClient(
        "claude-desktop",
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        "mcpServers",
        _claude_desktop,
        url="",
    ),
    McpClient(
        "claude-code",
        "Claude Code",
        "https://code.claude.com/docs/en/mcp",
        "mcpServers",
        _home(".claude.json"),
        ".mcp.json",
        stdio={"type": "stdio"},
        http={"type": "http"},
    ),
    McpClient(
        "codex",
        "Codex",
        "https://developers.openai.com/codex/mcp",
        "mcp_servers",
        _codex,
        ".codex/config.toml",
        headers="http_headers",
    ),
    McpClient(
        "cursor",
        "Cursor",
        "https://cursor.com/docs/mcp",
        "mcpServers",
        _home(".cursor", "mcp.json"),
        ".cursor/mcp.json",
    ),
    McpClient(
        "gemini-cli",
        "Gemini CLI",
        "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
        "mcpServers",
        _home(".gemini", "settings.json"),
        ".gemini/settings.json",
        url="httpUrl",
    ),
    McpClient(
        "vscode",
        "Visual Studio Code",
        "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        "servers",
        lambda: _application_data("Code", "User", "mcp.json"),
        ".vscode/mcp.json",
        stdio={"type": "stdio"},
        http={"type": "http"},
    ),
    McpClient(
        "windsurf",
        "Windsurf",
        "https://docs.windsurf.com/windsurf/cascade/mcp",
        "mcpServers",
        _home(".codeium", "windsurf", "mcp_config.json"),
        url="serverUrl",
    ),
    McpClient("zed", "Zed", "https://zed.dev/docs/ai/mcp", "context_servers", _zed),
)
CLIENTS: Mapping[str, McpClient] = {client.name: client for client in _CLIENTS}
"""Every client, by its name on the command line."""
PRINTED = McpClient("json", "other clients", "", "mcpServers", lambda: None, http={"type": "http"})
"""The entry that `pegboard configure json` prints, in the form that most clients read."""
