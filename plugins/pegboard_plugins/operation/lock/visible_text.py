"""Text in which every character can be seen, for reviews of definitions."""

from __future__ import annotations

import json
import re

from pegboard.terminal import printable

_SELECTORS = re.compile("[\ufe00-\ufe0f]")
"""Variation selectors. They change how emoji look, but a row of them can hide a text."""
_OTHERS = re.compile(r"[^\x20-\x7e\n]")


def visible(text: str) -> str:
    """Return one line in which characters that are invisible, or that change the order of text, are escaped."""
    line = printable(text).replace("\n", r"\n").replace("\t", r"\t")
    return _SELECTORS.sub(lambda match: ascii(match[0])[1:-1], line)


def with_hidden_escaped(text: str) -> str:
    """Return JSON in which these characters are escaped. Line breaks stay."""
    return text if text.isascii() and "\x7f" not in text else _OTHERS.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    char = match[0]
    return char if visible(char) == char else json.dumps(char)[1:-1]
