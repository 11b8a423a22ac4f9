"""Snapshots of the definitions that clients see, and their differences by tool and field.

This module reads and writes files of snapshots only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Definitions: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The definitions by kind ("tools", "resources", "templates", "prompts") and by name or URI."""

_SINGULAR = {"tools": "tool", "resources": "resource", "templates": "template", "prompts": "prompt"}
_MAX_VALUE_CHARACTERS = 300
"""The maximum number of characters of a value in a difference."""


class SnapshotDiffers(AssertionError):
    """The definitions differ from a snapshot.

    Attributes:
        path: the file of the snapshot.
        differences: one line for each difference.
    """

    def __init__(self, path: Path, differences: list[str]) -> None:
        self.path = path
        self.differences = differences
        lines = "\n".join(f"  {line}" for line in differences)
        super().__init__(f"{path} differs:\n{lines}\nto accept it: pytest --pegboard-update")


def render(definitions: Definitions) -> str:
    """Return the text of a snapshot. The order of the definitions does not change the text."""
    return json.dumps(definitions, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def differences(before: Definitions, after: Definitions) -> list[str]:
    """Return one line for each name that was added or removed, and for each field that changed."""
    lines = []
    for kind in sorted({*before, *after}, key=[*_SINGULAR].index):
        old, new = before.get(kind, {}), after.get(kind, {})
        for name in sorted({*old, *new}):
            item = f"{_SINGULAR[kind]} {name}"
            if name not in new:
                lines.append(f"{item}: gone")
            elif name not in old:
                lines.append(f"{item}: new")
            else:
                lines += [f"{item}: {line}" for line in _changes(old[name], new[name], "")]
    return lines


def _changes(old: Any, new: Any, field: str) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            path = f"{field}.{key}" if field else key
            if key not in new:
                yield f"{path}: gone, was {_shown(old[key])}"
            elif key not in old:
                yield f"{path}: new, is {_shown(new[key])}"
            else:
                yield from _changes(old[key], new[key], path)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (item, other) in enumerate(zip(old, new, strict=True)):
            yield from _changes(item, other, f"{field}[{place}]")
    elif type(old) is not type(new) or old != new:
        yield f"{field}: {_shown(old)} became {_shown(new)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[:_MAX_VALUE_CHARACTERS]}..."


def compare(definitions: Definitions, path: Path, *, update: bool = False) -> None:
    """Compare definitions with a snapshot, or write it.

    Args:
        definitions: the definitions.
        path: the file.
        update: write the file instead of comparing.

    Raises:
        SnapshotDiffers: the definitions differ, or the file does not exist.
    """
    text = render(definitions)
    there = path.read_text("utf-8") if path.is_file() else None
    if there == text:
        return
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    elif there is None:
        raise SnapshotDiffers(path, ["the file does not exist"])
    else:
        lines = differences(_parsed(there), json.loads(text))
        raise SnapshotDiffers(path, lines or ["the file has another format"])


def _parsed(text: str) -> Definitions:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(parsed, dict):
        return {}
    return {kind: parsed[kind] for kind in _SINGULAR if isinstance(parsed.get(kind), dict)}
