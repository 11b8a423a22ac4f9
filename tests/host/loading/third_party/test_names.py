"""Names that two distributions have: both are disabled and reported unless the operator selects one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.host.loading.third_party.installed import (
    CANNOT_START,
    TWINS,
    complaints,
    json_of,
    pegboard,
    project,
    sample_folders,
    samples,
    stdio,
    twins,
)

OWNERS = (("twin-blue 2.0.0", "twin_blue"), ("twin-red 1.0.0", "twin_red"))


def both(kind: str, name: str, target: str, key: str) -> list[str]:
    """Return the lines about two distributions with one name: each names the other, and how to select its own."""
    return [
        f"{kind} {name!r} from {own} ({module}:{target}), find: {other} has a {kind} with the same name, so neither "
        f'runs; select one, such as [host] {key} = ["{own.split()[0]}:{name}"]'
        for (own, module), (other, _) in (OWNERS, OWNERS[::-1])
    ]


def without(*names: str) -> str:
    return f"[host]\ndisabled_toolkits = {list(names)}\n"


async def test_two_toolkits_with_one_name_disable_only_each_other() -> None:
    async with stdio(twins(), "[toolkits.left]\n") as wire:
        await wire.initialize()
        tools = await wire.result("tools/list")
    assert [tool["name"] for tool in tools["tools"]] == ["fetch_left", "fetch_right"]
    assert complaints(wire.stderr)[:2] == both("toolkit", "twin", "twin", "required")


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        ("[toolkits.twin]\n", ()),
        ('[host]\nrequired = ["twin"]\n', ()),
        ('[host]\nrequired = ["twin-red:twin", "twin-blue:twin"]\n', ()),
        ("", ("--only", "twin")),
        ("", ("--strict",)),
    ],
)
def test_two_toolkits_with_a_named_name_prevent_the_start(config: str, arguments: tuple[str, ...]) -> None:
    done = pegboard(twins(), "stdio", *arguments, config=config)
    assert done.returncode == CANNOT_START
    assert complaints(done.stderr)[:2] == both("toolkit", "twin", "twin", "required")


def test_two_plugins_with_one_name_prevent_the_start() -> None:
    done = pegboard(twins(), "stdio", config=f"{without('twin')}[plugins.twins]\n")
    assert done.returncode == CANNOT_START
    assert complaints(done.stderr) == both("plugin", "twins", "TwinPlugin", "plugins")


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        ('[host]\nrequired = ["twin-red:twin"]\n', ()),
        ('[host]\nrequired = ["Twin_Red:Twin"]\n[toolkits.twin]\n', ()),
        ("", ("--only", "twin-red:twin")),
        ("[toolkits.twin]\n", ("--only", "twin-red:twin,left")),
        ("", ("--only", "twin-red:twin,t*")),
    ],
)
def test_distribution_and_name_select_one_of_two_toolkits(config: str, arguments: tuple[str, ...]) -> None:
    done = pegboard(twins(), "stdio", *arguments, config=config)
    assert (
        done.returncode,
        [line for line in complaints(done.stderr) if "this name" in line or "same name" in line],
    ) == (0, [])
    rows = json_of(twins(), "plugins", *arguments, config=config)
    assert {row["distribution"]: row["state"] for row in rows if row["name"] == "twin"} == {
        "twin-blue": "off",
        "twin-red": "on",
    }


def test_distribution_and_name_select_one_of_two_plugins() -> None:
    config = '[host]\nautoload = false\nplugins = ["twin-red:twins"]\n[plugins.twins]\n'
    rows = [row for row in json_of(twins(), "plugins", config=config) if row["name"] == "twins"]
    assert {row["distribution"]: row["state"] for row in rows} == {"twin-blue": "off", "twin-red": "on"}
    assert "'twin-red:twins' is selected" in rows[0]["reason"]


@pytest.mark.parametrize(("key", "name"), [("required", "twin-green:twin"), ("plugins", "twin-green:twins")])
def test_selecting_an_unknown_distribution_is_an_error(key: str, name: str) -> None:
    done = pegboard(twins(), "stdio", config=f'[host]\ndisabled_toolkits = ["twin"]\n{key} = ["{name}"]\n')
    assert (done.returncode, f"no plugin or toolkit with this name is installed: '{name}'" in done.stderr) == (
        CANNOT_START,
        True,
    )


@pytest.mark.parametrize(("disabled", "colour"), [("twin-blue:twin", "red"), ("Twin_Red:TWIN", "blue")])
async def test_disabling_one_by_its_distribution_lets_the_other_serve(disabled: str, colour: str) -> None:
    async with stdio(twins(), without(disabled, "left", "right")) as wire:
        await wire.initialize()
        result = await wire.call("twin_colour")
    assert result["content"][0]["text"] == colour
    assert wire.stderr == ""


def test_disabling_one_plugin_by_its_distribution_lets_the_other_run() -> None:
    config = '[host]\nautoload = false\ndisabled_plugins = ["twin-red:twins"]\n[plugins.twins]\n'
    assert pegboard(twins(), "stdio", "--strict", config=config).returncode == 0
    rows = [row for row in json_of(twins(), "plugins", config=config) if row["name"] == "twins"]
    assert {row["distribution"]: row["state"] for row in rows} == {"twin-blue": "on", "twin-red": "off"}


@pytest.mark.requirement("TOOL-06")
async def test_of_two_tools_with_one_name_neither_is_served() -> None:
    async with stdio(twins(), without("twin")) as wire:
        await wire.initialize()
        tools = await wire.result("tools/list")
        called = await wire.error("tools/call", {"name": "fetch", "arguments": {}})
    assert [tool["name"] for tool in tools["tools"]] == ["fetch_left", "fetch_right"]
    assert "fetch" in called["message"]
    (line,) = complaints(wire.stderr)
    assert "tool 'fetch' is claimed by" in line
    assert "toolkit 'left' from twin-red 1.0.0" in line
    assert "toolkit 'right' from twin-blue 2.0.0" in line


def test_every_entry_point_of_a_sample_is_listed() -> None:
    listed = {(row["kind"], row["name"]) for row in json_of(samples(), "plugins")}
    kinds = {"pegboard.plugins": "plugin", "pegboard.toolkits": "toolkit"}
    projects: list[dict[str, Any]] = [project(folder) for folder in sample_folders() if folder.name not in TWINS]
    groups = [group for one in projects for group in one["entry-points"].items()]
    assert listed >= {(kinds[group], name) for group, entries in groups for name in entries}
