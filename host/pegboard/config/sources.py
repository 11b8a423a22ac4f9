"""The layers of configuration, merged, and the source of each value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

from pegboard.config.problems import ConfigProblem, KeyPath, dotted

SourceKind = Literal["default", "built-in", "file", "environment", "command line", "code"]


class Source(NamedTuple):
    """The source of a value.

    Attributes:
        kind: "default" (no source sets the value), "built-in" (a default of the built-in plugins), "file",
            "environment", "command line", or "code" (a program that embeds a host).
        file: the name of the file if `kind` is "file", else None.
        line: the line in that file, from 1.
        variable: the environment variable if `kind` is "environment", else None.
    """

    kind: SourceKind
    file: str | None = None
    line: int | None = None
    variable: str | None = None

    @property
    def by_operator(self) -> bool:
        """True unless the value is a default."""
        return self.kind not in ("default", "built-in")

    def __str__(self) -> str:
        if self.file:
            return f"{self.file}:{self.line}" if self.line else self.file
        return f"environment variable {self.variable}" if self.variable else _WORDS[self.kind]


_WORDS = {
    "default": "default",
    "built-in": "defaults of the built-in plugins",
    "file": "file",
    "environment": "environment",
    "command line": "command line",
    "code": "given by the program",
}
DEFAULT = Source("default")


class Layer:
    """The values of one source. Immutable.

    Args:
        kind: the kind of source.
        tree: the values.
        file: the name of the file for messages.
        text: the content of the file, to find lines.
        variables: the environment variable of each value.
        raw: the original strings of variables whose values were parsed as another type.
        adds: True to add lists to the lists of lower layers instead of replacing them.
    """

    def __init__(
        self,
        kind: SourceKind,
        tree: Mapping[str, Any],
        *,
        file: str | None = None,
        text: str = "",
        variables: Mapping[KeyPath, str] | None = None,
        raw: Mapping[KeyPath, str] | None = None,
        adds: bool = False,
    ) -> None:
        self.kind: SourceKind = kind
        self.tree = tree
        self.file = file
        self.text = text
        self.variables = variables or {}
        self.raw = raw or {}
        self.adds = adds

    @cached_property
    def _lines(self) -> Mapping[KeyPath, int]:
        from pegboard.config.lines import find_lines

        return find_lines(self.text)

    def source(self, path: KeyPath) -> Source:
        """Return the location of a value in this layer, or else the location of the enclosing table."""
        around = [path[:end] for end in range(len(path), 0, -1)]
        if self.file:
            return Source(
                self.kind, self.file, next((self._lines[place] for place in around if place in self._lines), None)
            )
        below = (key for key in self.variables if key[: len(path)] == path)
        nearest = next((place for place in (*around, *below) if place in self.variables), None)
        return Source(self.kind, variable=self.variables[nearest] if nearest else None)


class Sources:
    """The merged layers, and the owner of each value.

    Attributes:
        tree: the merged values.
    """

    def __init__(self) -> None:
        self.tree: dict[str, Any] = {}
        self._owners: dict[KeyPath, tuple[Layer, KeyPath]] = {}

    def lay(self, layer: Layer) -> None:
        """Add a layer on top. Merge tables and replace other values."""
        self._lay(self.tree, layer.tree, (), layer)

    def copy(self) -> Sources:
        """Return a copy, to which layers can be added."""
        copied = Sources()
        copied.tree = _copied(self.tree)
        copied._owners = dict(self._owners)
        return copied

    def source(self, path: KeyPath) -> Source:
        """Return the source of a value or of the enclosing list, or DEFAULT if no layer sets the value."""
        within_list = next((place for place, part in enumerate(path) if isinstance(part, int)), len(path))
        return self._source(path, range(len(path), within_list - 1, -1))

    def around(self, path: KeyPath) -> Source:
        """Return the source of a value, or else the source of the nearest enclosing table."""
        return self._source(path, range(len(path), 0, -1))

    def _source(self, path: KeyPath, ends: range) -> Source:
        for end in ends:
            if owner := self._owners.get(path[:end]):
                layer, own_path = owner
                return layer.source((*own_path, *path[end:]))
        return DEFAULT

    def problem(self, message: str, path: KeyPath, suggestion: str | None = None) -> ConfigProblem:
        """Return a problem with a key, with the location of the key or else of the enclosing table."""
        source = self.around(path)
        place = None if source.file or not source.by_operator else str(source)
        return ConfigProblem(message, dotted(path), source.file, source.line, suggestion, place=place)

    def raw(self, path: KeyPath) -> str | None:
        """Return the original string of an environment variable that was parsed as another type, or None."""
        layer, own_path = self._owners.get(path, (None, path))
        return layer.raw.get(own_path) if layer else None

    def _lay(self, tree: dict[str, Any], above: Mapping[str, Any], path: KeyPath, layer: Layer) -> None:
        for key, value in above.items():
            here = (*path, key)
            if isinstance(value, Mapping) and isinstance(tree.get(key), dict):
                self._own_table(here, layer)
                self._lay(tree[key], value, here, layer)
            elif layer.adds and key in tree:
                self._add(tree, key, value, here, layer)
            else:
                if key in tree:
                    self.forget(here)
                self._owners[here] = (layer, here)
                tree[key] = {} if isinstance(value, Mapping) else value
                if isinstance(value, Mapping):
                    self._lay(tree[key], value, here, layer)

    def forget(self, *paths: KeyPath) -> None:
        """Remove the sources of values and of all values below them."""
        gone = set(paths)
        self._owners = {
            key: owner
            for key, owner in self._owners.items()
            if not any(key[:end] in gone for end in range(1, len(key) + 1))
        }

    def _own_table(self, path: KeyPath, layer: Layer) -> None:
        """Set the source of a table to the first layer of the operator that contains the table."""
        if self._owners[path][0].kind == "built-in":
            self._owners[path] = (layer, path)

    def _add(self, tree: dict[str, Any], key: str, items: list[Any], path: KeyPath, layer: Layer) -> None:
        held = tree[key]
        if not isinstance(held, list | tuple):
            return  # reported by the validation
        tree[key] = held = list(held)
        for place, item in enumerate(items):
            if item not in held:
                self._owners[(*path, len(held))] = (layer, (*path, place))
                held.append(item)


def _copied(tree: dict[str, Any]) -> dict[str, Any]:
    return {key: _copied(value) if isinstance(value, dict) else value for key, value in tree.items()}
