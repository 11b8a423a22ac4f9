"""Environment variables that set keys: `PEGBOARD__HOST__NAME=x`, and variables that other systems define.

The functions receive the variables as an argument. They do not read the environment of the process.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from pegboard.config.problems import ConfigProblem, KeyPath, dotted, undotted
from pegboard.config.sources import Layer
from pegboard.names import comma_separated, nearest

PREFIX = "PEGBOARD__"
WORKER_VARIABLE = "PEGBOARD_WORKER"
"""The number of a worker and the number of workers, as `2/4`. The process in `LISTEN_PID` is that worker."""
TOP_LEVEL_TABLES = ("host", "plugins", "toolkits")


def this_worker(environ: Mapping[str, str] = os.environ) -> tuple[int, int] | None:
    """Return the number of this process among its workers, from 1, and their number. Return None if it is not a worker.

    Another process starts the workers. The standard input of a worker is a pipe that closes when this other process
    ends.
    """
    number, _, count = environ.get(WORKER_VARIABLE, "").partition("/")
    is_worker = environ.get("LISTEN_PID") == str(os.getpid()) and number.isdecimal() and count.isdecimal()
    return (int(number), int(count)) if is_worker else None


SETTING_KINDS: Final = ("values", "literals", "secrets", "choices", "lists")
"""The kinds of variables of other systems that set keys.

- values: the string is the value.
- literals: the string is parsed as TOML, such as `true`.
- secrets: the variable contains a secret. The key is set to a reference to the variable.
- choices: comma-separated values replace a list.
- lists: comma-separated values are added to a list.
"""
OtherVariables: TypeAlias = Mapping[str, Mapping[str, str]]
"""Environment variables that other systems define, by kind. Those that set keys have the dotted key that they set.

Plugins declare theirs in `pegboard_plugin.toml`. An empty value counts as unset. The
key's own variable `PEGBOARD__...` takes precedence.
"""
HOST_VARIABLES: Final[OtherVariables] = {
    "values": {
        "MCP_SERVER_NAME": "host.name",
        "MCP_SERVER_VERSION": "host.version",
        "MCP_SERVER_TITLE": "host.title",
        "MCP_SERVER_INSTRUCTIONS": "host.instructions",
        "ARCADE_USER_ID": "host.user",
    },
    "literals": {"ARCADE_SERVER_RELOAD": "host.reload"},
    "choices": {"ARCADE_SERVER_TRANSPORT": "host.transports"},
    "lists": {
        "ARCADE_DISABLED_TOOLS": "host.disabled_tools",
        "ARCADE_DISABLED_TOOLKITS": "host.disabled_toolkits",
    },
    "renamed": {
        "MCP_DEBUG": '[host] log_level = "debug"',
        "MCP_MIDDLEWARE_LOG_LEVEL": "[host] log_level",
        "ARCADE_UVICORN_TIMEOUT_GRACEFUL_SHUTDOWN": "[host] grace_seconds",
        "ARCADE_MCP_DEBUG": '[host] log_level = "debug"',
        "ARCADE_MCP_DISCOVER_INSTALLED": "[host] autoload",
        "ARCADE_MCP_SERVER_NAME": "[host] name",
        "ARCADE_MCP_SERVER_VERSION": "[host] version",
        "ARCADE_MCP_SERVER_TITLE": "[host] title",
        "ARCADE_MCP_SERVER_INSTRUCTIONS": "[host] instructions",
    },
    "unused": {
        "MCP_MIDDLEWARE_ENABLE_ERROR_HANDLING": "errors are always handled",
        "ARCADE_CONTEXT": "only the `arcade` command uses it",
        "ARCADE_URL": "only the `arcade` command uses it",
        "ARCADE_DISABLE_AUTOUPDATE": "the host does not look for updates",
        "ARCADE_USAGE_TRACKING": "the host sends no usage data",
        "ARCADE_ENVIRONMENT": "set OTEL_RESOURCE_ATTRIBUTES",
        "ARCADE_MCP_CHILD_PROCESS": "it is internal to arcade-mcp",
        "ARCADE_MCP_SHOW_PACKAGES": "run `pegboard plugins`",
        "ARCADE_WORK_DIR": "set PEGBOARD_STATE_DIR",
    },
}
"""The variables of other systems for `[host]` by kind: those of `SETTING_KINDS` and of `ignored_variables`.

The facts of plugins have the others.
"""


def variable_layer(
    environ: Mapping[str, str], names: OtherVariables, known: Mapping[str, Any]
) -> tuple[Layer, list[ConfigProblem]]:
    """Return the layer of values from variables, and problems with names of variables.

    Args:
        environ: all variables.
        names: the variables that other systems define.
        known: the lower layers. A variable sets an existing key even if the two differ in case or hyphens.
    """
    reader = _Reader(known)
    reader.read_others(environ, names, SETTING_KINDS[:-1])
    for name in sorted(environ):
        if name.upper().startswith(PREFIX):
            reader.read(name, environ[name])
    return Layer("environment", reader.tree, variables=reader.variables, raw=reader.raw), reader.problems


def addition_layer(environ: Mapping[str, str], names: OtherVariables) -> Layer:
    """Return the layer of values that variables add to lists."""
    reader = _Reader({})
    reader.read_others(environ, names, ["lists"])
    return Layer("environment", reader.tree, variables=reader.variables, adds=True)


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
        elif parts[0].lower() not in TOP_LEVEL_TABLES:
            self.unknown(name, parts)
        elif text.strip():
            self.put(name, self.spelt(parts), literal(text), text)

    def read_others(self, environ: Mapping[str, str], names: OtherVariables, kinds: Iterable[str]) -> None:
        for kind in kinds:
            for name, key in names.get(kind, {}).items():
                text = environ.get(name, "")
                if (value := other_value(kind, name, text)) is not None:
                    self.put(name, undotted(key), value, "" if kind == "secrets" else text.strip())

    def unknown(self, name: str, parts: list[str]) -> None:
        close = nearest(parts[0], TOP_LEVEL_TABLES)
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
                setter = next(self.variables[path[:at]] for at in range(end, 0, -1) if path[:at] in self.variables)
                self.problem(name, f"{dotted(path[:end])} is set by {setter}, so it is not a table")
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


def other_value(kind: str, name: str, text: str) -> Any:
    """Return the value that a variable of another system sets, or None if the variable is empty."""
    if kind == "secrets":
        return {"env": name} if text else None
    if kind in ("choices", "lists"):
        return comma_separated(text) or None
    text = text.strip()
    return (literal(text) if kind == "literals" else text) if text else None


def literal(text: str) -> Any:
    """Return a string parsed as a TOML value, or the string itself if it is not TOML."""
    import tomli

    try:
        parsed = tomli.loads(f"value = {text}")
    except (tomli.TOMLDecodeError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text
