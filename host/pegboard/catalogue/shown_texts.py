"""Texts of definitions that clients see, held against `texts.py`. Most are plain, and looked at no further."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.errors import ToolDefinitionError

MAX_PROPERTY_CHARACTERS = 256
"""Characters of a parameter's name."""
_ESCAPES = (b"\\u", b"\\b", b"\\f", b"\x7f")
"""How JSON writes control characters; regular expressions hold some of these as well."""


def check_shown_text(what: str, text: str, most: int) -> None:
    """Refuse a text that is too long, or holds what is not seen.

    Raises:
        ToolDefinitionError: it does.
    """
    if len(text) > most:
        raise ToolDefinitionError(f"its {what} has {len(text):,} characters, the limit is {most:,}")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return
    from pegboard.messages.texts import complaint  # most texts need no closer look

    if found := complaint(text):
        raise ToolDefinitionError(f"its {what} {found}")


def check_schema_texts(schema: Mapping[str, Any], text: bytes, what: str = "") -> None:
    """Refuse a schema in whose texts, or names, something is not seen.

    Args:
        schema: the schema.
        text: the same as JSON.
        what: whose it is, where it is not the parameters'.

    Raises:
        ToolDefinitionError: it is; the message names the parameter.
    """
    for name in schema.get("properties", ()):
        if len(name) > MAX_PROPERTY_CHARACTERS:
            raise ToolDefinitionError(
                f"the name {name[:20]!r}... has {len(name)} characters, the limit is {MAX_PROPERTY_CHARACTERS}"
            )
        if "\n" in name or "\t" in name or not name.strip():
            raise ToolDefinitionError(f"{name!r} is no name for a parameter")
    if text.isascii() and not any(escape in text for escape in _ESCAPES):
        return
    from pegboard.messages.texts import complaints

    for path, found in complaints(schema):
        raise ToolDefinitionError(f"{_where(path, what)} {found}")


def _where(path: tuple[str | int, ...], what: str) -> str:
    place = ".".join(ascii(part)[1:-1] if isinstance(part, str) else str(part) for part in path)
    if what or path[:1] != ("properties",) or len(path) == 1:
        return f"{what or 'the parameters'}: {place or 'the schema'}"
    inner = ".".join(map(str, path[2:])) or "the schema"
    return f"parameter {path[1]!a}: its {inner}"
