"""What is broken and was only found costs itself alone: the host starts, serves the rest, and names each one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.plugins_loading.broken import HOOKS, IMPORTS, IMPOSTOR, LIFELESS, SLOPPY, WEATHER, Broken
from tests.plugins_loading.installed import complaints, json_of, samples, shortened, stdio
from tests.support.peer import Message

MILL = {"mill_bake", "mill_collapse", "mill_grind", "mill_open_sluice", "mill_spoil"}
HEALTHY = {"greeter_guests", "greeter_hello", "meter_read", "sloppy_fine"} | MILL
TOOLKITS = (*IMPORTS, *HOOKS, WEATHER)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[tuple[list[Message], Message, str]]:
    """All that is installed, without any configuration: the tools, what one of them gives, and what was said."""
    async with stdio(samples()) as wire:
        await wire.initialize()
        listed = await wire.result("tools/list")
        greeting = await wire.call("greeter_hello", name="Ada")
    assert wire.exit_code == 0
    yield listed["tools"], greeting, wire.stderr


@pytest.fixture(scope="module")
def plugins() -> dict[tuple[str, str, str], Any]:
    """What `pegboard plugins --json` says, by kind, name and distribution."""
    rows = json_of(samples(), "plugins")
    return {(row["kind"], row["name"], row["distribution"]): row for row in rows}


def test_the_healthy_rest_is_served(served: tuple[list[Message], Message, str]) -> None:
    tools, greeting, _ = served
    assert {tool["name"] for tool in tools} == HEALTHY
    assert greeting["content"] == [{"type": "text", "text": "Hello Ada"}]


@pytest.mark.parametrize("broken", [*TOOLKITS, LIFELESS], ids=lambda broken: broken.name)
def test_it_is_named_in_one_line(broken: Broken, served: tuple[list[Message], Message, str]) -> None:
    assert shortened(served[2]).count(f"ERROR pegboard: {broken.line('toolkit')}") == 1


def test_a_foreign_plugin_with_the_name_of_a_built_in_is_refused(served: tuple[list[Message], Message, str]) -> None:
    assert f"ERROR pegboard: {IMPOSTOR.line('plugin')}" in shortened(served[2])


def test_nothing_else_is_said(served: tuple[list[Message], Message, str]) -> None:
    expected = {broken.line("toolkit") for broken in (*TOOLKITS, LIFELESS)} | {IMPOSTOR.line("plugin")}
    rest = [line for line in complaints(served[2]) if line not in expected]
    assert [line for line in rest if "toolkit-sloppy" not in line] == []
    assert len(rest) == len(SLOPPY)


@pytest.mark.parametrize("what", SLOPPY)
def test_a_wrong_definition_costs_itself_alone(what: str, served: tuple[list[Message], Message, str]) -> None:
    place = r"\([^()]*toolkit_sloppy/__init__\.py:\d+\)"
    told = (
        rf"toolkit 'sloppy' from toolkit-sloppy 0\.5\.0 \(toolkit_sloppy:kit\), assemble: {re.escape(what)} {place}: "
    )
    assert re.search(f"{told}{re.escape(SLOPPY[what])}; it is not served$", served[2], re.MULTILINE)


@pytest.mark.parametrize("broken", TOOLKITS, ids=lambda broken: broken.name)
def test_the_list_of_plugins_tells_of_it(broken: Broken, plugins: dict[tuple[str, str, str], Any]) -> None:
    distribution, version = broken.source.split()
    row = plugins["toolkit", broken.name, distribution]
    assert (row["state"], row["version"], row["target"]) == ("failed", version, broken.target)
    assert broken.cause in "\n".join(shortened("\n".join(one["message"] for one in row["problems"])))


@pytest.mark.parametrize("broken", HOOKS, ids=lambda broken: broken.name)
def test_a_plugin_that_nobody_named_is_off(broken: Broken, plugins: dict[tuple[str, str, str], Any]) -> None:
    row = plugins["plugin", broken.name, "broken-hooks"]
    assert (row["state"], row["problems"]) == ("off", [])


def test_the_list_of_plugins_tells_of_what_is_well(plugins: dict[tuple[str, str, str], Any]) -> None:
    row = plugins["toolkit", "greeter", "toolkit-greeter"]
    assert (row["state"], row["version"], row["problems"]) == ("on", "1.2.0", [])
    assert row["tools"] == ["greeter_guests", "greeter_hello"]
    assert plugins["plugin", "mcp", "pegboard"]["state"] == "on"
    impostor = plugins["plugin", "stdio", "acme-stdio"]
    assert impostor["state"] == "off"
    assert IMPOSTOR.cause in str(impostor["problems"])
