"""Changes of one table in TOML. All text outside of the table is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli

from pegboard.cli.configure.client_file import ClientFileError
from pegboard.cli.output.toml_values import toml_key, toml_value

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|"(?:\\.|[^"\\\n])*"'  # strings with escapes
    r"|'''.*?'{3,5}|'[^'\n]*'"  # literal strings
    r"|#[^\n]*|\n|[\[\]{}]|[ \t\r]+|[\w.-]+|.",
    re.S,
)


def read_toml(text: str, path: Sequence[str]) -> dict[str, Any]:
    """Return the table at a path of keys; {} if it is missing.

    Raises:
        ClientFileError: the text is not TOML, or a value on the path is not a table.
    """
    try:
        found: Any = tomli.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise ClientFileError(f"it is not TOML: {error}") from None
    for number, name in enumerate(path, 1):
        found = found.get(name, {})
        if not isinstance(found, dict):
            raise ClientFileError(f"{'.'.join(path[:number])} must be a table")
    return dict(found)


def set_toml(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """Return the text with the table at a path of keys. The lines of an old table are replaced.

    Raises:
        ClientFileError: the text is not TOML, or it has the table in another form than `[path]`.
    """
    tables = read_toml(text, path[:-1])
    if tables.get(path[-1]) == table:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([*table_lines(path, table), ""])
    ranges = list(_ranges(text, path))
    if ranges:
        changed = _without(text, ranges[1:])
        changed = changed[: ranges[0][0]] + block + changed[ranges[0][1] :]
    else:
        gap = "" if not text.strip("\ufeff") else newline if text.endswith("\n") else 2 * newline
        changed = text + gap + block
    _check(text, changed, path, dict(table))
    return changed


def table_lines(path: Sequence[str], table: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table."""
    header = f"[{'.'.join(map(toml_key, path))}]"
    return [header, *(f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items())]


def delete_toml(text: str, path: Sequence[str]) -> str:
    """Return the text without the table at a path of keys, and without an empty line before it.

    Raises:
        ClientFileError: the text is not TOML, or it has the table in another form than `[path]`.
    """
    if path[-1] not in read_toml(text, path[:-1]):
        return text
    changed = _without(text, list(_ranges(text, path)))
    _check(text, changed, path, None)
    return changed


def _check(text: str, changed: str, path: Sequence[str], table: dict[str, Any] | None) -> None:
    """Check that a change has changed this table only.

    Raises:
        ClientFileError: the table is not written as `[path]`, so that it cannot be changed as a block of lines.
    """
    expected = read_toml(text, ())
    tables: Any = expected
    for name in path[:-1]:
        tables = tables.setdefault(name, {})
    if table is None:
        del tables[path[-1]]
    else:
        tables[path[-1]] = table
    try:
        if _without_empty(read_toml(changed, ()), path) == _without_empty(expected, path):
            return
    except ClientFileError:
        pass
    raise ClientFileError(f"{'.'.join(path)} must be written as a table [{'.'.join(path)}]: change it by hand")


def _without_empty(document: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return a document without the table of the first key if the table is empty: it may have no line of its own."""
    return {key: value for key, value in document.items() if key != path[0] or value != {}}


def _without(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    for start, end in reversed(ranges):
        before = text[:start]
        for blank in ("\r\n\r\n", "\n\n"):
            if before.endswith(blank):
                before = before[: -len(blank) // 2]
                break
        text = before + text[end:]
    return text


def _ranges(text: str, path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a table and of the tables below it: from each header to the last value under it."""
    start, end = None, 0
    for line_start, line_end, header in _statements(text):
        if header is not None and start is not None:
            yield start, end
            start = None
        if header is not None and header[: len(path)] == list(path):
            start = line_start
        end = line_end
    if start is not None:
        yield start, end


def _statements(text: str) -> Iterator[tuple[int, int, list[str] | None]]:
    """Yield the positions of each header and each key with its value, and the keys of a header."""
    depth, start = 0, None
    line = 0
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word == "\n" and depth == 0:
            if start is not None:
                yield line, token.end(), _header(text[start : token.start()])
            start, line = None, token.end()
        elif word[0] not in " \t\r\n#\ufeff":
            start = token.start() if start is None else start
            depth += (word in "[{") - (word in "]}")
    if start is not None:
        yield line, len(text), _header(text[start:])


def _header(statement: str) -> list[str] | None:
    """Return the keys of `[a.b]` or `[[a.b]]`, or None for another statement."""
    if not statement.startswith("["):
        return None
    found: Any = tomli.loads(statement.rstrip())
    keys: list[str] = []
    while found:
        if isinstance(found, list):
            found = found[0]
            continue
        (key,) = found
        keys.append(key)
        found = found[key]
    return keys
