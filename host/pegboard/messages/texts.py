"""The check for invisible characters in strings for clients. People do not see these characters, but models read them.

Control characters, invisible characters, characters that change the order of text, private characters and lone
surrogates are rejected. Joiners and variation selectors are accepted where scripts and emoji need them. Plain ASCII
needs no check (`is_plain`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.messages.error_words import FieldPath

_SUSPECTS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
_FLAGS = re.compile(
    "\U0001f3f4(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073))\U000e007f"
)
"""The flags of England, Scotland and Wales, the only emoji with tags."""
_KEYCAP = "\u20e3"
_UNNAMED = {"Cc": "a control character", "Co": "a character of private use", "Cs": "half a character"}
_FIRST_JOINING = 0x0590
"""The first character of the blocks of scripts that need joiners."""


def is_plain(text: str) -> bool:
    """Return True if a string has only printable ASCII characters, line feeds and tabs."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def escape_invisible(text: str, kept: str = "") -> str:
    """Escape every character that controls a terminal, breaks a line, is invisible, or changes the order of text.

    Args:
        text: the string.
        kept: the characters that are not escaped, such as line breaks.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in kept or _is_seen(char) else ascii(char)[1:-1] for char in text)


def _is_seen(char: str) -> bool:
    if char.isprintable():
        return not _SUSPECTS.match(char) or "\ufe00" <= char <= "\ufe0f"
    return unicodedata.category(char) == "Zs"


def complaint(text: str) -> str | None:
    """Return the first invisible character of a string and its position. Return None if all are visible."""
    for match in _SUSPECTS.finditer(text):
        if not _belongs(text, match.start()):
            char = match.group()
            name = unicodedata.name(char, "") or _UNNAMED.get(unicodedata.category(char), "no character")
            return f"has U+{ord(char):04X} ({name}) at position {match.start()}, which is invisible; remove it"
    return None


def text_problems(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path and the problem of each string and member name in a JSON value that has invisible characters."""
    if isinstance(value, str):
        if not is_plain(value) and (problem := complaint(value)):
            yield path, problem
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if not is_plain(name) and (problem := complaint(name)):
                yield path, f"has the name {name!a}, which {problem}"
            yield from text_problems(inner, (*path, name))
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from text_problems(inner, (*path, place))


def _belongs(text: str, place: int) -> bool:
    """Return True if a script or an emoji needs an invisible character at this position."""
    char, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if not before:
        return False
    if char == "\u200c":
        return _joins(before) and _joins(after)
    if char == "\u200d":
        return (_joins(before) and _joins(after)) or (_is_emoji(before) and _is_emoji(after) and after != "\ufe0f")
    if "\ufe00" <= char <= "\ufe0f":
        varies = not before.isascii() and not before.isspace() and not _SUSPECTS.match(before)
        return after == _KEYCAP if before in "#*0123456789" else varies
    if "\u180b" <= char <= "\u180f" and char != "\u180e":
        return "\u1820" <= before <= "\u18aa"
    if "\U000e0100" <= char <= "\U000e01ef":
        return (
            "\u3400" <= before <= "\u9fff" or "\uf900" <= before <= "\ufaff" or "\U00020000" <= before <= "\U0003ffff"
        )
    return any(flag.start() < place < flag.end() for flag in _FLAGS.finditer(text))


def _joins(char: str) -> bool:
    is_letter = bool(char) and ord(char) >= _FIRST_JOINING and unicodedata.category(char)[0] in "LM"
    return is_letter and not _SUSPECTS.match(char)  # which includes variation selectors


def _is_emoji(char: str) -> bool:
    return bool(char) and (char == "\ufe0f" or unicodedata.category(char) in ("So", "Sk", "Cn"))
