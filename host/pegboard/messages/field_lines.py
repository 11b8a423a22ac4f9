"""The problems of fields, formatted as lines with path and problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

FieldPath: TypeAlias = tuple[str | int, ...]
"""The members and indexes from the root of a JSON value to a field."""

REQUIRED = "is required"
UNKNOWN = "is not a parameter of this tool"
NOT_ALLOWED = "is not allowed"
MAX_LINE_CHARACTERS = 300
"""The length above which the problem of a field is cut off."""
MAX_FORMS = 5
"""The number of forms of a union that a message describes."""


def line(path: Sequence[str | int], text: str) -> str:
    """Return a problem as one line."""
    where = ".".join(map(str, path))
    if not where:
        return text
    return f"{where} {text}" if text.startswith((REQUIRED, UNKNOWN, NOT_ALLOWED)) else f"{where}: {text}"


def hinted(text: str, hint: str) -> str:
    """Return a problem with a hint. A long problem is cut off before the hint."""
    return text[: MAX_LINE_CHARACTERS - len(hint)] + hint if hint else text


def alternatives(forms: Iterable[str]) -> str:
    """Return the problems of all forms of a union as one string. Equal problems are listed once."""
    texts = list(dict.fromkeys(forms))
    more = f", or {len(texts) - MAX_FORMS} other forms" if len(texts) > MAX_FORMS else ""
    return ", or: ".join(texts[:MAX_FORMS]) + more
