"""Problems of the configuration, paths of values, and values as TOML."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

KeyPath = tuple[str | int, ...]
"""The path of a value: names of tables and keys, and list indexes."""


class ConfigProblem(NamedTuple):
    """One problem of the configuration.

    Attributes:
        message: the problem, without secret values.
        key: the dotted key, or "" if the problem does not concern a key.
        file: the file, or None if the value comes from another source.
        line: the line in that file, from 1.
        suggestion: the nearest valid name, if any.
        column: the column of a syntax error, from 1.
        place: the source if it is not a file, such as "environment variable PEGBOARD__HOST__NAME".
    """

    message: str
    key: str = ""
    file: str | None = None
    line: int | None = None
    suggestion: str | None = None
    column: int | None = None
    place: str | None = None

    def __str__(self) -> str:
        numbers = "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        where = f"{self.file}{numbers}" if self.file else self.place
        hint = f'; did you mean "{self.suggestion}"?' if self.suggestion else ""
        return ": ".join(part for part in (where, self.key, self.message + hint) if part)


def dotted(path: Sequence[str | int]) -> str:
    """Return a path in TOML notation, such as `plugins.http.allowed[0]`, with quotes if TOML requires them."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{toml_key(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def undotted(key: str | KeyPath) -> KeyPath:
    """Split a dotted key into a path. Return a path unchanged."""
    return tuple(key.split(".")) if isinstance(key, str) else key


def leaves(table: Mapping[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield each value of a table and of the tables in it with its path. A reference to a variable is one value."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value and value.keys() != {"env"}:
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name), value


def in_order(problems: Iterable[ConfigProblem]) -> list[ConfigProblem]:
    """Sort problems by line. Problems without a file come first."""
    return sorted(problems, key=lambda problem: problem.line or 0)


# --- Values as TOML


def toml_key(name: str) -> str:
    """Return a key, in quotes if TOML requires them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a value on one line (TOML 1.0)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(_char(char) for char in value) + '"'
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_key(name)} = {toml_value(item)}" for name, item in value.items() if item is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    return str(value)


def _char(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
