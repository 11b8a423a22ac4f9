"""What can be wrong with the configuration, and where. Plain data, no reading and no checking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

KeyPath = tuple[str | int, ...]
"""The way to a value: names of tables and keys, numbers of list elements (from 0)."""

ABSENT: Final = object()
"""What `step` gives where there is nothing."""


class ConfigProblem(NamedTuple):
    """One thing that is wrong with the configuration.

    Attributes:
        message: what is wrong, in plain words, without secret values.
        key: the dotted key, "" when it is none in particular.
        file: the file it stands in, None when it comes from somewhere else.
        line: the line in that file, from 1.
        suggestion: what was probably meant.
        column: the column in that line, from 1, for errors of syntax.
        place: where it comes from when that is no file, such as "environment variable PEGBOARD__HOST__NAME".
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
    """A way to a value as a person writes it: `plugins.http.allowed[0]`, quoted where TOML asks for it."""
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
    """The way to a value from its dotted form; names that hold a dot need the tuple."""
    return tuple(key.split(".")) if isinstance(key, str) else key


def step(value: Any, part: str | int) -> Any:
    """What stands in a table under a name, or in a list at a place; ABSENT where there is nothing."""
    if isinstance(value, Mapping):
        return value.get(part, ABSENT)
    if isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
        return value[part]
    return ABSENT


def in_order(problems: Iterable[ConfigProblem]) -> list[ConfigProblem]:
    """Problems as a person meets them: what is in no file first, then line by line."""
    return sorted(problems, key=lambda problem: problem.line or 0)
