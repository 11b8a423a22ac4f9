"""Decoded files, and parts of a text by lines or, for very long lines, by characters. No I/O."""

import codecs
from typing import NamedTuple

from pegboard import RetryableToolError

__all__ = ["Part", "by_lines", "by_offset", "decoded"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 8000
"""A file is binary if its first bytes contain a NUL. git reads the same number of bytes."""


class Part(NamedTuple):
    """Lines of a text, counted from 1, and the position to continue if the requested lines are incomplete."""

    text: str
    first: int
    last: int
    total: int
    next_line: int | None = None
    next_offset: int | None = None


def decoded(data: bytes) -> tuple[str, str] | None:
    """Return a file's text and its encoding, or None for a binary file. Text that is not UTF-8 is read as latin-1."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding), encoding
            except UnicodeDecodeError:
                return None
    if b"\0" in data[:_LOOKED_AT]:
        return None
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def by_lines(text: str, start: int, end: int, limit: int) -> Part:
    """Return lines `start` to `end` (0 for the last), at most `limit` characters. Negative numbers count from the end.

    Raises:
        RetryableToolError: the text has fewer lines.
    """
    lines = _lines(text)
    total = len(lines)
    first = max(total + start + 1, 1) if start < 0 else max(start, 1)
    if first > max(total, 1):
        raise RetryableToolError(f"Line {start} is after the end of the file: the file has {total} lines.")
    wanted = lines[first - 1 : end or None]
    size = count = 0
    for line in wanted:
        if size + len(line) > limit:
            break
        size += len(line)
        count += 1
    if wanted and not count:
        before = sum(map(len, lines[: first - 1]))
        return Part(wanted[0][:limit], first, first, total, next_offset=before + limit)
    rest = first + count if count < len(wanted) else None
    return Part("".join(wanted[:count]), first if count else 0, first + count - 1 if count else 0, total, rest)


def by_offset(text: str, offset: int, limit: int) -> Part:
    """Return `limit` characters from `offset` on.

    Raises:
        RetryableToolError: the text is shorter.
    """
    if offset > len(text):
        raise RetryableToolError(f"Offset {offset} is after the end of the file: the file has {len(text)} characters.")
    piece = text[offset : offset + limit]
    first = text.count("\n", 0, offset) + 1
    last = first + piece.count("\n", 0, max(len(piece) - 1, 0))
    total = text.count("\n") + (not text.endswith("\n"))
    rest = offset + limit if offset + limit < len(text) else None
    return Part(piece, first, last, total, next_offset=rest)


def _lines(text: str) -> list[str]:
    """Return lines as git counts them: only a line feed ends a line."""
    return [line + "\n" for line in text.split("\n")[:-1]] + ([tail] if (tail := text.rpartition("\n")[2]) else [])
