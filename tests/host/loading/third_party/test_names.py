"""Names that two distributions have: both are disabled and reported unless the operator selects one."""

from __future__ import annotations

import pytest

from tests.host.loading.third_party.installed import CANNOT_START, complaints, json_of, pegboard, stdio, twins

OWNERS = (("twin-blue 2.0.0", "twin_blue"), ("twin-red 1.0.0", "twin_red"))


def both(kind: str, name: str, target: str, key: str) -> list[str]:
    """Return the lines about two distributions with one name: each names the other, and how to select its own."""
    return [
        f"{kind} {name!r} from {own} ({module}:{target}), find: {other} has a {kind} with the same name, so neither "
        f'runs; select one, such as [host] {key} = ["{own.split()[0]}:{name}"]'
        for (own, module), (other, _) in (OWNERS, OWNERS[::-1])
    ]


@pytest.mark.requirement("TOOL-06")
async def test_two_toolkits_and_two_tools_with_one_name_disable_only_each_other() -> None:
    async with stdio(twins(), "[toolkits.left]\n") as wire:
        await wire.initialize()
        tools = await wire.result("tools/list")
        called = await wire.error("tools/call", {"name": "fetch", "arguments": {}})
    assert [tool["name"] for tool in tools["tools"]] == ["fetch_left", "fetch_right"]
    assert "fetch" in called["message"]
    *lines, last = complaints(wire.stderr)
    assert lines == both("toolkit", "twin", "twin", "required")
    assert "tool 'fetch' is claimed by" in last
    assert "toolkit 'left' from twin-red 1.0.0" in last
    assert "toolkit 'right' from twin-blue 2.0.0" in last


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        ("[toolkits.twin]\n", ()),
        ('[host]\nrequired = ["twin-red:twin", "twin-blue:twin"]\n', ()),
        ("", ("--only", "twin")),
        ("", ("--strict",)),
    ],
)
def test_two_toolkits_with_a_named_name_prevent_the_start(config: str, arguments: tuple[str, ...]) -> None:
    done = pegboard(twins(), "stdio", *arguments, config=config)
    assert done.code == CANNOT_START
    assert complaints(done.err)[:2] == both("toolkit", "twin", "twin", "required")


def test_two_plugins_with_one_name_prevent_the_start() -> None:
    done = pegboard(twins(), "stdio", config='[host]\ndisabled_toolkits = ["twin"]\n[plugins.twins]\n')
    assert done.code == CANNOT_START
    assert complaints(done.err) == both("plugin", "twins", "TwinPlugin", "plugins")


@pytest.mark.parametrize(
    ("config", "arguments", "name"),
    [
        ('[host]\nrequired = ["Twin_Red:Twin"]\n[toolkits.twin]\n', (), "twin"),
        ("[toolkits.twin]\n", ("--only", "twin-red:twin,left"), "twin"),
        ('[host]\ndisabled_toolkits = ["twin-blue:twin"]\n', (), "twin"),
        ('[host]\nautoload = false\nplugins = ["twin-red:twins"]\n[plugins.twins]\n', (), "twins"),
        ('[host]\nautoload = false\ndisabled_plugins = ["twin-blue:twins"]\n[plugins.twins]\n', (), "twins"),
    ],
)
def test_distribution_and_name_select_one_of_two(config: str, arguments: tuple[str, ...], name: str) -> None:
    done = pegboard(twins(), "stdio", *arguments, config=config)
    assert (done.code, "same name" in done.err) == (0, False), done.err
    rows = json_of(twins(), "plugins", *arguments, config=config)
    states = {row["distribution"]: row["state"] for row in rows if row["name"] == name}
    assert states == {"twin-blue": "off", "twin-red": "on"}


def test_selecting_an_unknown_distribution_is_an_error() -> None:
    done = pegboard(twins(), "stdio", config='[host]\ndisabled_toolkits = ["twin"]\nrequired = ["twin-green:twin"]\n')
    assert done.code == CANNOT_START
    assert "no plugin or toolkit with this name is installed: 'twin-green:twin'" in done.err
