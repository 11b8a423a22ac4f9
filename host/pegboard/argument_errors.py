"""What is wrong with a call's arguments, in words that a model can act on: one short line for each field.

Values are never repeated: they may be secret, and they may be long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import ValidationError

from pegboard.errors import ToolInputError
from pegboard.schema_errors import REQUIRED, UNKNOWN, line

if TYPE_CHECKING:
    from pegboard.schemas.subschemas import Path

MOST_LINES = 10
MOST_CHARACTERS = 80
"""Of the name of a field."""
MOST_TEXT = 300
"""Of what is wrong with one field."""

_PLAIN = {"missing": REQUIRED, "extra_forbidden": UNKNOWN}


def input_error(error: ValidationError, arguments: Mapping[str, Any]) -> ToolInputError:
    """The error for the model, from pydantic's."""
    fields: dict[str, list[str]] = {}
    for detail in error.errors(include_url=False, include_input=False, include_context=False):
        where = _field(detail["loc"], arguments, missing=detail["type"] == "missing")
        message = _PLAIN.get(detail["type"]) or detail["msg"]
        messages = fields.setdefault(where, [])
        if message not in messages:
            messages.append(message)
    return _error({where: ", or: ".join(_brief(message) for message in messages) for where, messages in fields.items()})


def schema_error(problems: Iterable[tuple[Path, str]]) -> ToolInputError:
    """The error for the model, from what a JSON Schema found wrong."""
    fields: dict[str, str] = {}
    for path, text in problems:
        where = ".".join(map(_shown, path))
        known = fields.setdefault(where, _brief(text))
        if _brief(text) not in known:
            fields[where] = f"{known}; {_brief(text)}"[:MOST_TEXT]
    return _error(fields)


def _error(fields: Mapping[str, str]) -> ToolInputError:
    lines = [line((where,), text) for where, text in list(fields.items())[:MOST_LINES]]
    if len(fields) > MOST_LINES:
        lines.append(f"and {len(fields) - MOST_LINES} more")
    return ToolInputError("Invalid arguments:\n" + "\n".join(lines))


def _field(location: tuple[int | str, ...], value: Any, *, missing: bool) -> str:
    """The path of a field. What pydantic adds to tell the members of a union apart is left out."""
    parts = []
    for place, part in enumerate(location):
        found, value = _step(value, part)
        if found or (missing and place == len(location) - 1):
            parts.append(_shown(part))
    return ".".join(parts)


def _step(value: Any, part: int | str) -> tuple[bool, Any]:
    if isinstance(value, Mapping) and part in value:
        return True, value[part]
    if isinstance(value, list) and type(part) is int and part < len(value):
        return True, value[part]
    return False, value


def _shown(part: int | str) -> str:
    text = str(part)
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:MOST_CHARACTERS])
    return text + "..." if len(str(part)) > MOST_CHARACTERS else text


def _brief(message: str) -> str:
    return " ".join(message.split())[:MOST_TEXT]
