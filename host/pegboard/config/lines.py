"""The line of each key in a TOML document. TOML parsers do not return lines.

The document must be valid (TOML 1.0 or 1.1). Lines are determined only for messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import tomli

from pegboard.config.problems import KeyPath

_QUOTED = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'{3}.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*''',
    re.DOTALL,
)
"""A string or a comment."""
_BRACKET = re.compile(r"[\[\]{}]")
_CLOSING = {"[": "]", "{": "}"}
MAX_LINES = 500
"""The number of lines of one value whose elements have lines of their own. Those after have the next line."""


def find_lines(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, of every table, key and list element of a valid TOML document.

    Each statement is parsed again after each of its lines, and new values begin on this line. A table without a header
    has the line of the first header or dotted key that implies it.
    """
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}  # how many tables each array of tables has so far
    table: KeyPath = ()
    statement, is_open, begin = "", False, 0
    for number, line in enumerate(text.split("\n"), 1):
        statement += f"{line}\n"
        begin = begin or number
        is_long = is_open and statement.count("\n") > MAX_LINES
        if is_long and not _BRACKET.search(line):
            continue
        missing = _missing_brackets(statement)
        if is_long and missing:
            continue
        try:
            parsed = tomli.loads(statement + missing)
        except tomli.TOMLDecodeError:  # the line ends within a string
            continue
        if statement.lstrip().startswith("["):
            table = _enter(parsed, begin, lines, counts)
        else:
            for path in _paths(parsed):
                lines.setdefault((*table, *path), begin)
        statement, is_open, begin = (statement if missing else ""), bool(missing), 0
    return lines


def _missing_brackets(statement: str) -> str:
    """Return the brackets that complete the part of a statement."""
    missing = ""
    for bracket in _BRACKET.findall(_QUOTED.sub("", statement)):
        missing = _CLOSING[bracket] + missing if bracket in _CLOSING else missing[1:]
    return missing


def _enter(header: dict[str, Any], line: int, lines: dict[KeyPath, int], counts: dict[KeyPath, int]) -> KeyPath:
    """Return the path of a header's table. For an array of tables, use the index of its last element."""
    path: KeyPath = ()
    table: Any = header
    while isinstance(table, dict) and table:
        if path in counts:
            path = (*path, counts[path] - 1)
        ((name, table),) = table.items()
        path = (*path, name)
        lines.setdefault(path, line)
    if isinstance(table, list):
        counts[path] = counts.get(path, 0) + 1
        path = (*path, counts[path] - 1)
    lines[path] = line
    return path


def _paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the path of every value in a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _paths(item, (*path, key))
