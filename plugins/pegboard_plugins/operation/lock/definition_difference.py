"""The difference between two definitions in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard_plugins.operation.lock.canonical import canonical_json
from pegboard_plugins.operation.lock.visible_text import visible

_CHARACTERS_BEFORE = 20
_CHARACTERS_AFTER = 40


def definition_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return the members that differ, and an excerpt of the first member. Return None if none differs.

    Raises:
        TypeError: JSON cannot express a definition.
    """
    members = [name for name in sorted({*old, *new}) if _text(old, name) != _text(new, name)]
    if not members:
        return None
    before, after = _text(old, members[0]), _text(new, members[0])
    pairs = enumerate(zip(before, after, strict=False))
    start = next((place for place, (left, right) in pairs if left != right), min(len(before), len(after)))
    others = f"; also {', '.join(members[1:])}" if len(members) > 1 else ""
    return visible(f"{members[0]} was {_excerpt(before, start)}, is {_excerpt(after, start)}{others}")


def _text(definition: Mapping[str, Any], name: str) -> str:
    return canonical_json(definition[name]).decode() if name in definition else "missing"


def _excerpt(text: str, start: int) -> str:
    begin, end = max(0, start - _CHARACTERS_BEFORE), start + _CHARACTERS_AFTER
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"
