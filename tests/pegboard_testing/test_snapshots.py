"""Snapshots: the same for the same definitions, and where they differ, by tool and field."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pegboard_testing import SnapshotDiffers, compare
from pegboard_testing.snapshots import differences

BEFORE: dict[str, Any] = {
    "tools": {
        "t_a": {"description": "A", "inputSchema": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}},
        "t_b": {"description": "B"},
    },
    "resources": {},
    "templates": {},
    "prompts": {"t_p": {"arguments": [{"name": "a", "required": True}]}},
}


def test_each_difference_names_its_place() -> None:
    name: Any = "t_a"
    argument = '{"name": "a", "required": true}'
    cases: list[tuple[Any, list[str]]] = [
        (lambda new: None, []),
        (
            lambda new: new["tools"][name]["inputSchema"]["properties"]["x"].update(type="number"),
            ['tool t_a: inputSchema.properties.x.type: "integer" became "number"'],
        ),
        (lambda new: new["tools"]["t_b"].pop("description"), ['tool t_b: description: gone, was "B"']),
        (lambda new: new["tools"].pop("t_b"), ["tool t_b: gone"]),
        (
            lambda new: new["prompts"]["t_p"]["arguments"].append({"name": "b"}),
            [f'prompt t_p: arguments: [{argument}] became [{argument}, {{"name": "b"}}]'],
        ),
    ]
    for change, expected in cases:
        changed = deepcopy(BEFORE)
        change(changed)
        assert differences(BEFORE, changed) == expected


def test_a_snapshot_is_written_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "snapshots" / "a.json"
    with pytest.raises(SnapshotDiffers, match="the file does not exist"):
        compare(BEFORE, path)
    assert not path.exists()
    compare(BEFORE, path, update=True)
    written = path.stat().st_mtime_ns
    compare(BEFORE, path, update=True)
    assert path.stat().st_mtime_ns == written, "an equal snapshot is not written"
    changed = {**BEFORE, "prompts": {}}
    with pytest.raises(SnapshotDiffers, match="prompt t_p: gone") as caught:
        compare(changed, path)
    assert caught.value.differences == ["prompt t_p: gone"]
    assert "pytest --pegboard-update" in str(caught.value)
    compare(changed, path, update=True)
    compare(changed, path)


def test_a_snapshot_that_was_damaged_or_written_by_hand_differs(tmp_path: Path) -> None:
    for text in ("", "{", "[]", "null", "7", '{"tools": []}', json.dumps(BEFORE)):
        path = tmp_path / "a.json"
        path.write_text(text)
        with pytest.raises(SnapshotDiffers):
            compare(BEFORE, path)
