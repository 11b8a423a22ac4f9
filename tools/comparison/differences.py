"""Differences of answers, for people."""

from __future__ import annotations

import json
from typing import Any

_BEFORE = 60
_AFTER = 300


def difference(original: Any, ours: Any) -> str:
    """Return two values from a little before the place where they differ."""
    texts = [json.dumps(value, sort_keys=True, default=str) for value in (original, ours)]
    same = next((place for place, pair in enumerate(zip(*texts, strict=False)) if len(set(pair)) > 1), 0)
    start = max(0, same - _BEFORE)
    shown = [f"{'...' if start else ''}{text[start : start + _BEFORE + _AFTER]}" for text in texts]
    return " != ".join(shown)
