"""Broken toolkits that are installed and not named: the host starts, serves the others, and reports each one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.host.loading.third_party.broken import HOOKS, IMPORTS, IMPOSTOR, LIFELESS, SLOPPY, WEATHER
from tests.host.loading.third_party.installed import complaints, json_of, samples, shortened, stdio
from tests.support.peer import Message

MILL = {"mill_bake", "mill_collapse", "mill_grind", "mill_open_sluice", "mill_spoil"}
HEALTHY = {"greeter_guests", "greeter_hello", "meter_read", "sloppy_fine"} | MILL
TOOLKITS = (*IMPORTS, *HOOKS, WEATHER)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[tuple[list[Message], Message, str]]:
    """The tools of a host without configuration, the result of one of them, and its standard error."""
    async with stdio(samples()) as wire:
        await wire.initialize()
        listed = await wire.result("tools/list")
        greeting = await wire.call("greeter_hello", name="Ada")
    assert wire.exit_code == 0
    yield listed["tools"], greeting, wire.stderr


@pytest.fixture(scope="module")
def plugins() -> dict[tuple[str, str, str], Any]:
    """The rows of `pegboard plugins --json` by kind, name and distribution."""
    rows = json_of(samples(), "plugins")
    return {(row["kind"], row["name"], row["distribution"]): row for row in rows}


def test_other_toolkits_are_served(served: tuple[list[Message], Message, str]) -> None:
    tools, greeting, _ = served
    assert {tool["name"] for tool in tools} == HEALTHY
    assert greeting["content"] == [{"type": "text", "text": "Hello Ada"}]


def test_each_failure_is_reported_in_one_line(served: tuple[list[Message], Message, str]) -> None:
    expected = {broken.line("toolkit") for broken in (*TOOLKITS, LIFELESS)} | {IMPOSTOR.line("plugin")}
    lines = shortened(served[2])
    assert [line for line in expected if lines.count(f"ERROR pegboard: {line}") != 1] == []
    rest = [line for line in complaints(served[2]) if line not in expected]
    assert [line for line in rest if "toolkit-sloppy" not in line] == []
    assert len(rest) == len(SLOPPY)


def test_an_invalid_definition_disables_only_itself(served: tuple[list[Message], Message, str]) -> None:
    start = r"toolkit 'sloppy' from toolkit-sloppy 0\.5\.0 \(toolkit_sloppy:kit\), assemble: "
    place = r" \([^()]*toolkit_sloppy/__init__\.py:\d+\): "
    lines = [f"{start}{re.escape(name)}{place}{re.escape(cause)}; it is not served$" for name, cause in SLOPPY.items()]
    assert [line for line in lines if not re.search(line, served[2], re.MULTILINE)] == []


def test_the_list_of_plugins_shows_failures(plugins: dict[tuple[str, str, str], Any]) -> None:
    for broken in TOOLKITS:
        distribution, version = broken.source.split()
        row = plugins["toolkit", broken.name, distribution]
        assert (row["state"], row["version"], row["target"]) == ("failed", version, broken.target)
        assert broken.cause in "\n".join(shortened("\n".join(one["message"] for one in row["problems"])))
    off = [plugins["plugin", broken.name, "broken-hooks"] for broken in HOOKS]
    assert [row for row in off if (row["state"], row["problems"]) != ("off", [])] == []
    impostor = plugins["plugin", "stdio", "acme-stdio"]
    assert (impostor["state"], IMPOSTOR.cause in str(impostor["problems"])) == ("off", True)


def test_the_list_of_plugins_shows_plugins_that_run(plugins: dict[tuple[str, str, str], Any]) -> None:
    row = plugins["toolkit", "greeter", "toolkit-greeter"]
    assert (row["state"], row["version"], row["problems"]) == ("on", "1.2.0", [])
    assert row["tools"] == ["greeter_guests", "greeter_hello"]
    assert plugins["plugin", "mcp", "pegboard"]["state"] == "on"
