"""The checks of strings that clients see: their length and invisible characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pegboard.errors import ToolDefinitionError

MAX_PROPERTY_CHARACTERS = 256
"""The maximum length of a parameter's name."""
_ESCAPES = (b"\\u", b"\\b", b"\\f")
"""The escapes of control characters in JSON. Regular expressions may contain the same sequences."""


_is_hidden_text_allowed: ContextVar[bool] = ContextVar("pegboard.is_hidden_text_allowed", default=False)


@contextmanager
def hidden_text_allowed(allowed: bool) -> Iterator[None]:
    """Accept invisible characters, to show them to the operator. The definitions must not be served to clients."""
    token = _is_hidden_text_allowed.set(allowed)
    try:
        yield
    finally:
        _is_hidden_text_allowed.reset(token)


def check_shown_text(what: str, text: str, most: int) -> None:
    """Check that a string is not too long and has no invisible characters.

    Raises:
        ToolDefinitionError: the string is invalid.
    """
    if len(text) > most:
        raise ToolDefinitionError(f"its {what} has {len(text):,} characters, the limit is {most:,}")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return
    from pegboard.messages.texts import complaint  # imported only for other characters

    if (problem := complaint(text)) and not _is_hidden_text_allowed.get():
        raise ToolDefinitionError(f"its {what} {problem}")


def check_schema_texts(schema: Mapping[str, Any], text: bytes, what: str = "") -> None:
    """Check that the strings and names of a schema have no invisible characters.

    Args:
        schema: the schema.
        text: the schema as JSON.
        what: the owner of the schema for messages, if it is not the schema of the parameters.

    Raises:
        ToolDefinitionError: the schema is invalid. The message names the parameter.
    """
    for name in schema.get("properties", ()):
        if len(name) > MAX_PROPERTY_CHARACTERS:
            raise ToolDefinitionError(
                f"the name {name[:20]!r}... has {len(name)} characters, the limit is {MAX_PROPERTY_CHARACTERS}"
            )
        if "\n" in name or "\t" in name or not name.strip():
            raise ToolDefinitionError(
                f"invalid parameter name {name!r}: use visible characters without tabs and line breaks"
            )
    is_plain = text.isascii() and b"\x7f" not in text  # DEL has no escape
    if is_plain and (b"\\" not in text or not any(escape in text for escape in _ESCAPES)):
        return
    if _is_hidden_text_allowed.get():
        return
    from pegboard.messages.texts import text_problems

    for path, problem in text_problems(schema):
        raise ToolDefinitionError(f"{_where(path, what)} {problem}")


def _where(path: tuple[str | int, ...], what: str) -> str:
    place = ".".join(ascii(part)[1:-1] if isinstance(part, str) else str(part) for part in path)
    if what or path[:1] != ("properties",) or len(path) == 1:
        return f"{what or 'the parameters'}: {place or 'the schema'}"
    inner = ".".join(map(str, path[2:])) or "the schema"
    return f"parameter {path[1]!a}: its {inner}"
