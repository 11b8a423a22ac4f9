"""The estimated number of tokens that a tool costs in each request of a model. See docs/diagnosis.md for the error."""

from __future__ import annotations

import json
import re

from pegboard.types.catalogue import Tool

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
