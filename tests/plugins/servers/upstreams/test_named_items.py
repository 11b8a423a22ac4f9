"""Settings of the operator that name items of a mounted server: changed, disabled, excluded and renamed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugins.servers.upstreams.mounts import mounting, names, scripted, toml, tool, tools
from tests.plugins.servers.upstreams.test_settings import output, ran

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


SETTINGS = """[host]
disabled_tools = ["one_hide", "on*_hide", "one_hidden", "tow_*"]
[host.tools.one_change]
name = "new"
[host.tools.one_chnage]
"""
AT_ONCE = 'hostconfig.toml:2: host.disabled_tools[3]: "tow_*" matches nothing'
LATER = (
    'hostconfig.toml:2: host.disabled_tools[2]: "one_hidden" matches nothing; did you mean "one_hide"?',
    'hostconfig.toml:5: host.tools.one_chnage: no tool with this name exists; did you mean "one_change"?',
    'hostconfig.toml:9: plugins.upstreams.servers.one.exclude[1]: "tpyo" matches nothing; did you mean "typo"?',
    'hostconfig.toml:10: plugins.upstreams.servers.one.rename.tpyo: "tpyo" matches nothing; did you mean "typo"?',
)
SECTION = "[plugins.upstreams.servers.one]"
CHANGE = "[host.tools.one_change] changes it"
TOOLKIT = "the toolkit one of upstreams"


@pytest.fixture
def settings(tmp_path: Path) -> str:
    script = tools("hide", "change", "out", "typo", "old", "moved")
    more = {"exclude": ["ou*", "tpyo"], "rename": {"tpyo": "a", "moved": "b"}}
    return SETTINGS + toml("one", scripted(tmp_path, script, **more))


@pytest.mark.needs("doctor", "tool_commands")
@pytest.mark.parametrize(
    ("command", "problems"),
    [("config check", ()), ("upstreams", LATER[2:]), ("list", LATER), ("doctor", LATER)],
)
async def test_a_name_is_judged_when_items_are_known(command: str, problems: tuple[str, ...], settings: str) -> None:
    _, out, errors = await ran(settings, *command.split())
    reported = [line for line in errors.splitlines() if "matches nothing" in line or "no tool with" in line]
    assert sorted(reported) == sorted(f"pegboard: warning: {problem}" for problem in (AT_ONCE, *problems))
    assert command != "doctor" or all(f"configuration: {problem}" in out for problem in LATER)


async def test_the_command_shows_what_is_served_and_why_other_items_are_not(settings: str) -> None:
    assert (await output(settings, "upstreams")).splitlines() == [
        "one: connected to scripted 1 (2025-06-18), 4 tools, 0 resources, 0 prompts",
        *("  one_new", "  one_typo", "  one_old", "  b"),
        f"  not served: tool 'out': excluded by 'ou*' in exclude of {SECTION} (hostconfig.toml:9)",
        "  not served: tool 'one_hide': disabled by 'one_hide' in [host] disabled_tools (hostconfig.toml:2)",
    ]


@pytest.mark.needs("tool_commands")
async def test_the_list_counts_the_tools_that_the_section_of_their_server_leaves_out(settings: str) -> None:
    _, _, errors = await ran(settings, "list")
    message = "1 more of the server one is not served; `pegboard upstreams` explains it"
    assert f"pegboard: {message}" in errors.splitlines()


@pytest.mark.needs("why")
@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("one.out", f"tool one_out: not served; excluded by 'ou*' in exclude of {SECTION} (hostconfig.toml:9)"),
        ("old", "tool one_old: served"),
        ("change", "tool one_new: served"),
        (
            "hide",
            "the tool one_hide is not served: disabled by 'one_hide' in [host] disabled_tools (hostconfig.toml:2)",
        ),
        ("out", f"tool one_out: not served; excluded by 'ou*' in exclude of {SECTION} (hostconfig.toml:9)"),
        (
            "one_moved",
            f"tool one_moved: not served; it is served as 'b', its name in rename of {SECTION} (hostconfig.toml:10)",
        ),
    ],
)
async def test_why_knows_own_names_and_what_excludes_or_renames_them(name: str, story: str, settings: str) -> None:
    assert await output(settings, "why", name) == f"{story}; it comes from {TOOLKIT}\n"


@pytest.mark.needs("why")
@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("one", "toolkit one: on; SECTION (hostconfig.toml:6)\n  tools: b, one_new, one_old, one_typo\n"),
        ("dead", "toolkit dead: not available: /bin/false ended with code 1; SECTION (hostconfig.toml:11)\n"),
        ("one_change", f"tool one_new: served; it comes from {TOOLKIT}\n  {CHANGE} (hostconfig.toml:3)\n"),
    ],
)
async def test_why_knows_servers_and_the_names_of_changed_tools(name: str, story: str, settings: str) -> None:
    text = settings + toml("dead", {"command": "/bin/false"})
    section = f"mounted by [plugins.upstreams.servers.{name}]"
    assert await output(text, "why", name) == story.replace("SECTION", section)


@pytest.mark.needs("tool_commands")
async def test_the_limits_of_a_toolkit_may_name_a_server(settings: str) -> None:
    code, _, errors = await ran(f"{settings}[host.toolkits.one]\nsecrets = []\n", "list")
    assert (code, "no toolkit with this name" in errors) == (0, False), errors
