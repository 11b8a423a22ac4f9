"""Snapshots: the same for the same definitions, and where they differ, by tool and field."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.testing import SnapshotDiffers, compare, connect
from pegboard.testing.snapshots import differences, render
from tests.host.testing import kits

BEFORE: dict[str, Any] = {
    "tools": {
        "t_a": {"description": "A", "inputSchema": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}},
        "t_b": {"description": "B"},
    },
    "resources": {},
    "templates": {},
    "prompts": {"t_p": {"arguments": [{"name": "a", "required": True}]}},
}


def after(change: Any) -> list[str]:
    changed = deepcopy(BEFORE)
    change(changed)
    return differences(BEFORE, changed)


def test_each_difference_names_what_and_where() -> None:
    schema = "tools", "t_a", "inputSchema"
    assert after(lambda new: new["tools"]["t_a"].update(description="C")) == ['tool t_a: description: "A" became "C"']
    assert after(lambda new: new[schema[0]][schema[1]][schema[2]]["properties"]["x"].update(type="number")) == [
        'tool t_a: inputSchema.properties.x.type: "integer" became "number"'
    ]
    assert after(lambda new: new["tools"]["t_b"].update(title="T")) == ['tool t_b: title: new, is "T"']
    assert after(lambda new: new["tools"]["t_b"].pop("description")) == ['tool t_b: description: gone, was "B"']
    assert after(lambda new: new["tools"].pop("t_b")) == ["tool t_b: gone"]
    assert after(lambda new: new["resources"].update({"x://y": {}})) == ["resource x://y: new"]
    assert after(lambda new: new["prompts"]["t_p"]["arguments"][0].update(required=False)) == [
        "prompt t_p: arguments[0].required: true became false"
    ]
    assert after(lambda new: new["prompts"]["t_p"]["arguments"].append({"name": "b"})) == [
        (
            'prompt t_p: arguments: [{"name": "a", "required": true}] became '
            '[{"name": "a", "required": true}, {"name": "b"}]'
        )
    ]
    assert after(lambda new: None) == []


def test_one_and_true_and_1_0_are_not_the_same() -> None:
    def of(value: Any) -> dict[str, Any]:
        return {"tools": {"t": {"default": value}}}

    assert differences(of(1), of(True)) == ["tool t: default: 1 became true"]
    assert differences(of(1), of(1.0)) == ["tool t: default: 1 became 1.0"]


def test_long_values_are_cut() -> None:
    (line,) = differences({"tools": {"t": {"d": ""}}}, {"tools": {"t": {"d": "x" * 5000}}})
    assert len(line) < 400
    assert line.endswith("...")


async def test_what_clients_are_told_is_in_it() -> None:
    async with connect(kits.kit) as client:
        found = await client.definitions()
        assert found["tools"]["trips_book"] == await client.tool("book")
    assert sorted(found) == ["prompts", "resources", "templates", "tools"]
    assert list(found["resources"]) == ["trips://home", "trips://map"]
    assert list(found["templates"]) == ["trips://cities/{name}"]
    assert list(found["prompts"]) == ["trips_plan"]


async def test_a_host_without_resources_has_definitions_too() -> None:
    kit = Toolkit("t")

    @kit.tool
    def only() -> None:
        """Be alone."""

    async with connect(kit) as client:
        assert (await client.definitions())["resources"] == {}


def test_the_text_does_not_depend_on_order() -> None:
    turned = {kind: dict(reversed(found.items())) for kind, found in reversed(BEFORE.items())}
    assert render(turned) == render(BEFORE)
    assert json.loads(render(BEFORE)) == BEFORE
    assert render({"tools": {"t": {"title": "Käse"}}}).count("Käse") == 1


def test_a_snapshot_is_written_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "snapshots" / "a.json"
    with pytest.raises(SnapshotDiffers, match="the file does not exist"):
        compare(BEFORE, path)
    assert not path.exists()
    compare(BEFORE, path, update=True)
    compare(BEFORE, path)
    changed = {**BEFORE, "prompts": {}}
    with pytest.raises(SnapshotDiffers, match="prompt t_p: gone") as caught:
        compare(changed, path)
    assert caught.value.differences == ["prompt t_p: gone"]
    assert "pytest --pegboard-update" in str(caught.value)
    compare(changed, path, update=True)
    compare(changed, path)


def test_a_snapshot_that_is_right_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    compare(BEFORE, path, update=True)
    path.chmod(0o400)
    before = path.stat().st_mtime_ns
    compare(BEFORE, path, update=True)
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", '{"tools": []}', json.dumps(BEFORE)])
def test_a_snapshot_that_was_damaged_or_written_by_hand_differs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(SnapshotDiffers):
        compare(BEFORE, path)
