"""Problems of the configuration, and paths of values."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

KeyPath = tuple[str | int, ...]
"""The path of a value: names of tables and keys, and list indexes."""

ABSENT: Final = object()
"""The result of `step` for an absent value."""


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


def dotted(path: KeyPath) -> str:
    """Return a path in TOML notation, such as `plugins.http.allowed[0]`, with quotes if TOML requires them."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f".{_quoted(part)}"
    return text.removeprefix(".")


def _quoted(name: str) -> str:
    import json  # few keys need it

    return json.dumps(name, ensure_ascii=False)


def undotted(key: str | KeyPath) -> KeyPath:
    """Split a dotted key into a path. Return a path unchanged."""
    return tuple(key.split(".")) if isinstance(key, str) else key


def step(value: Any, part: str | int) -> Any:
    """Return the item of a table or list, or ABSENT if it does not exist."""
    if isinstance(value, Mapping):
        return value.get(part, ABSENT)
    if isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
        return value[part]
    return ABSENT


def in_order(problems: Iterable[ConfigProblem]) -> list[ConfigProblem]:
    """Sort problems by line. Problems without a file come first."""
    return sorted(problems, key=lambda problem: problem.line or 0)
