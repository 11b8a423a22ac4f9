"""The environment's part of the configuration: `PEGBOARD__HOST__NAME=x` and the existing system's well-known names.

It reads the mapping that it is given, never the process's own environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.config.problems import ConfigProblem, KeyPath, dotted
from pegboard.config.sources import Layer

PREFIX = "PEGBOARD__"
SECTIONS = ("host", "plugins", "toolkits")

ALIASES: Mapping[str, KeyPath] = {
    "MCP_SERVER_NAME": ("host", "name"),
    "MCP_SERVER_VERSION": ("host", "version"),
    "MCP_SERVER_TITLE": ("host", "title"),
    "MCP_SERVER_INSTRUCTIONS": ("host", "instructions"),
    "ARCADE_USER_ID": ("host", "user"),
    "MCP_RESOURCE_SERVER_CANONICAL_URL": ("plugins", "resource_server", "resource"),
    "MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS": ("plugins", "resource_server", "authorization_servers"),
    "MCP_RESOURCE_SERVER_SCOPES_SUPPORTED": ("plugins", "resource_server", "scopes_supported"),
    "MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES": ("plugins", "resource_server", "challenge_scopes"),
    "ARCADE_DEBUG_EXPOSE_DEVELOPER_MESSAGE_IN_TOOL_ERROR_RESPONSES": ("plugins", "debug_errors", "developer_message"),
    "ARCADE_DEBUG_EXPOSE_STACKTRACE_IN_TOOL_ERROR_RESPONSES": ("plugins", "debug_errors", "stacktrace"),
}
"""Names that set a key, unless its PEGBOARD__ name does. An empty value counts as none."""

SWITCHES: Mapping[str, KeyPath] = {"ARCADE_AUTH_DISABLED": ("plugins", "worker", "auth_disabled")}
"""The same, for what is true or false."""

SECRETS: Mapping[str, KeyPath] = {"ARCADE_WORKER_SECRET": ("plugins", "worker", "secret")}
"""The same, for what is never shown: the key then refers to the variable."""

ADDITIONS: Mapping[str, KeyPath] = {
    "ARCADE_DISABLED_TOOLS": ("host", "disabled_tools"),
    "ARCADE_DISABLED_TOOLKITS": ("host", "disabled_toolkits"),
}
"""Names whose values, separated by commas, are added to a list."""


def settings(environ: Mapping[str, str], known: Mapping[str, Any]) -> tuple[Layer, list[ConfigProblem]]:
    """The layer of variables that set a key.

    Args:
        environ: all variables.
        known: the layers below; a variable means the key that is spelt there with other case or with hyphens.
    """
    reader = _Reader(known)
    for name, path in ALIASES.items():
        if text := environ.get(name, "").strip():
            reader.put(name, path, text, text)
    for name, path in SWITCHES.items():
        if text := environ.get(name, "").strip():
            reader.put(name, path, _parse(text), text)
    for name, path in SECRETS.items():
        if environ.get(name):
            reader.put(name, path, {"env": name}, "")
    for name in sorted(environ):
        if name.upper().startswith(PREFIX):
            reader.read(name, environ[name])
    return Layer("environment", reader.tree, variables=reader.variables, raw=reader.raw), reader.problems


def additions(environ: Mapping[str, str]) -> Layer:
    """The layer of variables that add to a list."""
    tree: dict[str, dict[str, list[str]]] = {}
    variables: dict[KeyPath, str] = {}
    for name, path in ADDITIONS.items():
        if items := [item.strip() for item in environ.get(name, "").split(",") if item.strip()]:
            section, key = map(str, path)
            tree.setdefault(section, {})[key] = items
            variables[path] = name
    return Layer("environment", tree, variables=variables, adds=True)


class _Reader:
    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known
        self.tree: dict[str, Any] = {}
        self.variables: dict[KeyPath, str] = {}
        self.raw: dict[KeyPath, str] = {}
        self.problems: list[ConfigProblem] = []

    def read(self, name: str, text: str) -> None:
        parts = name[len(PREFIX) :].split("__")
        if "" in parts:
            self.problem(name, "a part of its name is empty; parts are separated by two underscores")
        elif parts[0].lower() not in SECTIONS:
            self.unknown(name, parts)
        else:
            value = _parse(text)
            self.put(name, self.spelt(parts), value, text)

    def unknown(self, name: str, parts: list[str]) -> None:
        from pegboard.names import nearest

        close = nearest(parts[0], SECTIONS)
        meant = PREFIX + "__".join([close.upper(), *parts[1:]]) if close else None
        self.problem(name, f"after {PREFIX} comes HOST, PLUGINS or TOOLKITS, not {parts[0]}", meant)

    def spelt(self, parts: list[str]) -> KeyPath:
        path: list[str] = []
        table: Any = self.known
        for part in parts:
            keys = table if isinstance(table, Mapping) else {}
            path.append(next((key for key in keys if _folded(key) == _folded(part)), part.lower()))
            table = keys.get(path[-1])
        return tuple(path)

    def put(self, name: str, path: KeyPath, value: Any, text: str) -> None:
        table = self.tree
        for end, part in enumerate(path[:-1], start=1):
            table = table.setdefault(str(part), {})
            if not isinstance(table, dict):
                self.problem(name, f"{dotted(path[:end])} is set by {self.variables[path[:end]]} and is no table")
                return
        table[str(path[-1])] = value
        self.variables[path] = name
        self.raw.pop(path, None)
        if not isinstance(value, str):
            self.raw[path] = text

    def problem(self, name: str, message: str, suggestion: str | None = None) -> None:
        self.problems.append(ConfigProblem(message, suggestion=suggestion, place=f"environment variable {name}"))


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")


def _parse(text: str) -> Any:
    """The text as a TOML value, or else itself."""
    import tomli

    try:
        parsed = tomli.loads(f"value = {text}")
    except (tomli.TOMLDecodeError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text
