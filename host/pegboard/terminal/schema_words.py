"""Tools for people: parameters in a few words, and the estimated number of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.messages.hints import subschemas_at
from pegboard.types.catalogue import Tool

_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matches {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}
"""The limits that JSON Schema defines for a value, in words."""


def parameter_rows(schema: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return the name, the type, the default and the meaning of each parameter.

    The members of an object follow it, indented. Deeper members are left out, as is the choice between several objects.
    """
    definitions = schema.get("$defs", {})
    rows = []
    for name, row in _rows(schema, definitions, "  "):
        rows.append(row)
        objects = [form for form in subschemas_at((name,), schema) if form.get("properties")]
        if len(objects) == 1:
            rows += [member for _, member in _rows(objects[0], definitions, "    ")]
    return rows


def _rows(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], indent: str
) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """Yield the name and the row of each property of an object."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        default = "required" if name in required else _default(field)
        yield name, (f"{indent}{name}", type_name(field, definitions), default, _meaning(field))


def type_name(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return the type of a value in a few words."""
    if reference := schema.get("$ref"):
        name = str(reference).rsplit("/", 1)[-1]
        choices = definitions.get(name, {}).get("enum")
        return name if choices is None else "|".join(map(str, choices))
    if "enum" in schema or "const" in schema:
        return "|".join(map(str, schema.get("enum", [schema.get("const")])))
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return "|".join(type_name(option, definitions) for option in options)
    if schema.get("type") == "array" and schema.get("items"):
        return f"array of {type_name(schema['items'], definitions)}"
    kind = str(schema.get("type", "any"))
    return str(schema.get("title", kind)) if kind == "object" else kind


def _meaning(schema: Mapping[str, Any]) -> str:
    """Return the description and the limits of a parameter, worded as in error messages."""
    present = [(schema[key], words) for key, words in _LIMITS.items() if key in schema]
    limits = ", ".join(words.format(limit).removesuffix("s" if limit == 1 else "") for limit, words in present)
    description = schema.get("description", "").strip()
    return f"{description} ({limits})" if description and limits else description or limits


def _default(schema: Mapping[str, Any]) -> str:
    """Return the default as a caller writes it: strings as they are, other values as JSON."""
    if "default" not in schema:
        return ""
    value = schema["default"]
    return f"={value}" if value and isinstance(value, str) else f"={json.dumps(value, ensure_ascii=False)}"


# --- The estimated tokens of a tool in each request of a model. See docs/diagnosis.md for the error.

_PIECE = re.compile(r"[A-Za-z]+|\d{1,3}|[^\x00-\x7f]|[^\sA-Za-z\d\x80-\U0010ffff]+|\n+")
"""A word, up to three digits, a character beyond ASCII, punctuation, or line breaks."""
WORD_CHARACTERS = 12
"""The length up to which a word is one token."""
PUNCTUATION_CHARACTERS = 4
"""The number of punctuation characters in one token."""


def estimated_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return sum(_tokens_of(found.group()) for found in _PIECE.finditer(text))


def tool_tokens(tool: Tool) -> int:
    """Return the estimated number of tokens of a tool: its name, its description and its input schema as JSON."""
    sent = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return estimated_tokens(json.dumps(sent, ensure_ascii=False, separators=(",", ":")))


def _tokens_of(piece: str) -> int:
    if piece[0].isascii() and piece[0].isalpha():
        return -(-len(piece) // WORD_CHARACTERS)
    return -(-len(piece) // PUNCTUATION_CHARACTERS)
