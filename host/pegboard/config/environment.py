"""Environment variables that set keys: `PEGBOARD__HOST__NAME=x`, and variables of existing systems.

The variables are an argument. The environment of the process is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard.config.problems import ConfigProblem, KeyPath, dotted, undotted
from pegboard.config.sources import Layer

PREFIX = "PEGBOARD__"
TOP_LEVEL_TABLES = ("host", "plugins", "toolkits")


class EnvironmentNames(NamedTuple):
    """Environment variables of existing systems that set a key, each with its dotted key.

    Plugins declare them (`FromEnvironment`). The `[environment]` table of the defaults lists those of built-in plugins,
    as a variable may enable a plugin, and a disabled plugin is not imported. An empty value counts as unset. The
    variable `PEGBOARD__...` of a key comes first.

    Attributes:
        values: variables whose text is the value.
        literals: variables whose text is TOML, such as `true`.
        secrets: variables that hold a secret: the key refers to the variable.
        lists: variables whose values, separated by commas, are added to a list.
    """

    values: Mapping[str, str] = {}
    literals: Mapping[str, str] = {}
    secrets: Mapping[str, str] = {}
    lists: Mapping[str, str] = {}


def variable_layer(
    environ: Mapping[str, str], names: EnvironmentNames, known: Mapping[str, Any]
) -> tuple[Layer, list[ConfigProblem]]:
    """Return the layer of variables that set a key, and the problems with their names.

    Args:
        environ: all variables.
        names: the variables of existing systems.
        known: the layers below. A variable sets the key that differs from it only in case or hyphens.
    """
    reader = _Reader(known)
    for name, key in names.values.items():
        if text := environ.get(name, "").strip():
            reader.put(name, undotted(key), text, text)
    for name, key in names.literals.items():
        if text := environ.get(name, "").strip():
            reader.put(name, undotted(key), literal(text), text)
    for name, key in names.secrets.items():
        if environ.get(name):
            reader.put(name, undotted(key), {"env": name}, "")
    for name in sorted(environ):
        if name.upper().startswith(PREFIX):
            reader.read(name, environ[name])
    return Layer("environment", reader.tree, variables=reader.variables, raw=reader.raw), reader.problems


def addition_layer(environ: Mapping[str, str], names: EnvironmentNames) -> Layer:
    """Return the layer of variables that add to a list."""
    tree: dict[str, dict[str, list[str]]] = {}
    variables: dict[KeyPath, str] = {}
    for name, dotted_key in names.lists.items():
        if items := [item.strip() for item in environ.get(name, "").split(",") if item.strip()]:
            path = undotted(dotted_key)
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
        elif parts[0].lower() not in TOP_LEVEL_TABLES:
            self.unknown(name, parts)
        else:
            value = literal(text)
            self.put(name, self.spelt(parts), value, text)

    def unknown(self, name: str, parts: list[str]) -> None:
        from pegboard.names import nearest

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
                self.problem(name, f"{dotted(path[:end])} is set by {self.variables[path[:end]]}, so it is not a table")
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


def literal(text: str) -> Any:
    """Return the TOML value that a text is, or else the text."""
    import tomli

    try:
        parsed = tomli.loads(f"value = {text}")
    except (tomli.TOMLDecodeError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text
