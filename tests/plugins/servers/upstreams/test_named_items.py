"""Settings of the operator that name items of a mounted server: changed, disabled, excluded and renamed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugins.servers.upstreams.mounts import mounting, names, scripted, tool

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "how": {}}, "required": ["name"]}


def changing(folder: Path, change: Any, schema: Any = SCHEMA, old: str = "one_search", **settings: Any) -> Any:
    """Return a client of a host that mounts a tool `search` as `one_search`, and changes it."""
    script = {"tools/list": {"tools": [tool("search", inputSchema=schema)]}}
    section = scripted(folder, script, env={"OWN": "own"}, **settings)
    return mounting({"one": section}, hostconfig={"host": {"tools": {old: change}}})


async def test_arguments_of_a_mounted_tool_are_changed(tmp_path: Path) -> None:
    arguments = {"name": {"name": "key", "description": "a key"}, "how": {"hidden": True}}
    async with changing(tmp_path, {"arguments": arguments}) as client:
        properties = {"key": {"type": "string", "description": "a key"}}
        schema = {"type": "object", "properties": properties, "required": ["key"]}
        assert (await client.tool("one_search"))["inputSchema"] == schema
        assert (await client.call("one_search", key="OWN")).text == "own"
        assert (await client.call("one_search", name="OWN")).text == "Invalid arguments:\nkey is required"
        assert "how is not a parameter" in (await client.call("one_search", key="OWN", how=1)).text
    async with changing(tmp_path, {"arguments": {"name": {"value": "OWN"}}}) as client:
        assert (await client.call("one_search", how=1)).text == "own"


@pytest.mark.parametrize(
    ("argument", "schema", "problem"),
    [
        (
            "nam",
            SCHEMA,
            "host.tools.one_search.arguments.nam: there is no argument 'nam' to change; did you mean 'name'",
        ),
        ("how", {**SCHEMA, "anyOf": [{}]}, "its input schema has 'anyOf' at its root, so arguments cannot be changed"),
    ],
)
async def test_an_impossible_change_names_its_key(
    argument: str, schema: Any, problem: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with changing(tmp_path, {"arguments": {argument: {"hidden": True}}}, schema) as client:
        assert await names(client) == []
    assert problem in caplog.text


@pytest.mark.parametrize(
    ("settings", "old", "new"),
    [
        ({}, "one_search", "one_look"),
        ({"prefix": "n"}, "n_search", "n_look"),
        ({"prefix": False}, "search", "look"),
        ({"rename": {"search": "find"}}, "find", "look"),
    ],
)
async def test_a_new_name_keeps_the_prefix(settings: dict[str, Any], old: str, new: str, tmp_path: Path) -> None:
    async with changing(tmp_path, {"name": "look"}, old=old, **settings) as client:
        assert await names(client) == [new]
