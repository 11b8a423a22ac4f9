"""Changes of one table in TOML. All text outside of the table is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tomli
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, Item, Table, Whitespace

from pegboard.terminal import dotted, toml_value
from pegboard_plugins.support.edited_file import EditedFileError


def read_toml(text: str, path: Sequence[str]) -> dict[str, Any]:
    """Return the table at a path of keys; {} if it is missing.

    Raises:
        EditedFileError: the text is not TOML, or a value on the path is not a table.
    """
    try:
        table: Any = tomli.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise EditedFileError(f"it is not TOML: {error}") from None
    for number, name in enumerate(path, 1):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise EditedFileError(f"{dotted(path[:number])} must be a table")
    return dict(table)


def set_toml(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    """Return the text with the table at a path of keys. The lines of an old table are replaced.

    Raises:
        EditedFileError: the text is not TOML, or it has the table in another form than `[path]`.
    """
    tables = read_toml(text, path[:-1])
    if tables.get(path[-1]) == table:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([*table_lines(path, table), ""])
    if path[-1] in tables:
        before, after = _around(text, path)
        changed = before + block + after
    else:
        gap = "" if not text.strip("\ufeff") else newline if text.endswith("\n") else 2 * newline
        changed = text + gap + block
    _check(text, changed, path, dict(table))
    return changed


def table_lines(path: Sequence[str], table: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table."""
    header = f"[{dotted(path)}]"
    return [header, *(f"{dotted((key,))} = {toml_value(value)}" for key, value in table.items())]


def delete_toml(text: str, path: Sequence[str]) -> str:
    """Return the text without the table at a path of keys, and without an empty line before it.

    Raises:
        EditedFileError: the text is not TOML, or it has the table in another form than `[path]`.
    """
    if path[-1] not in read_toml(text, path[:-1]):
        return text
    before, after = _around(text, path)
    changed = re.sub(r"(\r?\n)\1\Z", r"\1", before) + after
    _check(text, changed, path, None)
    return changed


def _check(text: str, changed: str, path: Sequence[str], table: dict[str, Any] | None) -> None:
    """Check that a change has changed this table only.

    Raises:
        EditedFileError: the table is not written as `[path]`, so that it cannot be changed as a block of lines.
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
    except EditedFileError:
        pass
    raise _unchangeable(path)


def _unchangeable(path: Sequence[str]) -> EditedFileError:
    name = ".".join(path)
    return EditedFileError(f"{name} must be written as a table [{name}]: change it by hand")


def _without_empty(document: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return a document without the table of the first key if the table is empty: it may have no line of its own."""
    return {key: value for key, value in document.items() if key != path[0] or value != {}}


def _around(text: str, path: Sequence[str]) -> tuple[str, str]:
    """Return the text before a table and after it. Comments after its last value are not part of it.

    Raises:
        EditedFileError: the table is not written as `[path]`, its parts are not together, or the rest would change.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    try:
        document = tomlkit.parse(text)
    except (TOMLKitError, RecursionError) as error:
        raise _unchangeable(path) from error
    tables: Any = document
    for name in path[:-1]:
        tables = tables[name]
    table = tables[path[-1]]
    if not isinstance(table, Table):
        raise _unchangeable(path)
    following = "".join(item.as_string() for item in _following(table))
    del tables[path[-1]]
    left = tomlkit.dumps(document)
    same = next((place for place, (old, new) in enumerate(zip(text, left, strict=False)) if old != new), len(left))
    start = left.rfind("\n", 0, same) + 1
    before, cut, after = text[:start], text[start : start + len(text) - len(left)], left[start:]
    header = cut.partition("\n")[0].strip()
    if before + cut + after != text or not header.startswith("[") or path[-1] not in read_toml(header, path[:-1]):
        raise _unchangeable(path)  # tomlkit would also change other lines: it brings parts of tables together
    return mark + before, following + after


def _following(table: Table) -> list[Item]:
    """Return the comments and empty lines after the last value of a table and of the tables below it."""
    items: list[Item] = []
    for _, item in reversed(table.value.body):
        below = item.body[-1] if isinstance(item, AoT) else item
        if isinstance(below, Table):
            return [*_following(below), *items]
        if not isinstance(item, Comment | Whitespace):
            break
        items.insert(0, item)
    return items
