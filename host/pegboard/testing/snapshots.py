"""Definitions as clients see them, written down and compared: what changed, by tool and field.

It reads and writes files of snapshots, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Definitions: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By kind ("tools", "resources", "templates", "prompts") and by name or URI, what a client is told."""

_SINGULAR = {"tools": "tool", "resources": "resource", "templates": "template", "prompts": "prompt"}
_MAX_VALUE_CHARACTERS = 300
"""How much of a value a difference shows, in characters."""


class SnapshotDiffers(AssertionError):
    """Clients see something else than a snapshot says.

    Attributes:
        path: the snapshot's file.
        differences: one line for each.
    """

    def __init__(self, path: Path, differences: list[str]) -> None:
        self.path = path
        self.differences = differences
        lines = "\n".join(f"  {line}" for line in differences)
        super().__init__(f"{path} differs:\n{lines}\nto take it over: pytest --pegboard-update")


def render(definitions: Definitions) -> str:
    """The text of a snapshot: the same for the same definitions, whatever their order."""
    return json.dumps(definitions, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def differences(before: Definitions, after: Definitions) -> list[str]:
    """What changed, one line for each name that came or went, and for each field that changed."""
    lines = []
    for kind in sorted({*before, *after}, key=[*_SINGULAR].index):
        old, new = before.get(kind, {}), after.get(kind, {})
        for name in sorted({*old, *new}):
            one = f"{_SINGULAR[kind]} {name}"
            if name not in new:
                lines.append(f"{one}: gone")
            elif name not in old:
                lines.append(f"{one}: new")
            else:
                lines += [f"{one}: {line}" for line in _changes(old[name], new[name], "")]
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
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _changes(one, other, f"{field}[{place}]")
    elif type(old) is not type(new) or old != new:
        yield f"{field}: {_shown(old)} became {_shown(new)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[:_MAX_VALUE_CHARACTERS]}..."


def compare(definitions: Definitions, path: Path, *, update: bool = False) -> None:
    """Hold definitions against a snapshot, or write it.

    Args:
        definitions: what clients see.
        path: the file.
        update: write it instead.

    Raises:
        SnapshotDiffers: they are not what it says, or there is none.
    """
    text = render(definitions)
    there = path.read_text("utf-8") if path.is_file() else None
    if there == text:
        return
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    elif there is None:
        raise SnapshotDiffers(path, ["there is no such file yet"])
    else:
        found = differences(_parsed(there), json.loads(text))
        raise SnapshotDiffers(path, found or ["it was written in another form"])


def _parsed(text: str) -> Definitions:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {kind: found[kind] for kind in _SINGULAR if isinstance(found.get(kind), dict)}
