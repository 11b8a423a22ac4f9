"""Broken plugins: an unnamed one is reported and disables no other, a named one prevents the start."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.host.loading.third_party.broken import HOOKS, IMPORTS, IMPOSTOR, LIFELESS, SLOPPY, WEATHER
from tests.host.loading.third_party.installed import (
    CANNOT_START,
    NO_IMPOSTOR,
    complaints,
    pegboard,
    samples,
    shortened,
    stdio,
)
from tests.support.forks import Done
from tests.support.peer import Message

MILL = {"mill_bake", "mill_collapse", "mill_grind", "mill_open_sluice"}
HEALTHY = {"greeter_guests", "greeter_hello", "meter_read", "sloppy_fine"} | MILL
TOOLKITS = (*IMPORTS, *HOOKS, WEATHER)
SHOUT = "plugin 'shout' from acme-polish 2.0.1 (acme_polish:ShoutPlugin)"
AUTOLOAD_OFF = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"


def section(kind: str, name: str) -> str:
    return f"[{kind}s.{name}]\n"


def refused(done: Done) -> list[str]:
    """Return the reasons why the host did not start."""
    assert (done.code, done.out, "Traceback" in done.err) == (CANNOT_START, "", False), done.err
    return complaints(done.err)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[tuple[list[Message], Message, str]]:
    """The tools of a host without configuration, the result of one of them, and its standard error."""
    async with stdio(samples()) as wire:
        await wire.initialize()
        listed = await wire.result("tools/list")
        greeting = await wire.call("greeter_hello", name="Ada")
    assert wire.exit_code == 0
    yield listed["tools"], greeting, wire.stderr


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
    start = r"toolkit 'sloppy' from toolkit-sloppy 0\.5\.0 \(toolkit_sloppy:kit\), assemble: "
    place = r" \([^()]*toolkit_sloppy/__init__\.py:\d+\): "
    wrong = [f"{start}{re.escape(name)}{place}{re.escape(cause)}; it is not served$" for name, cause in SLOPPY.items()]
    assert [line for line in wrong if not re.search(line, served[2], re.MULTILINE)] == []


def test_each_named_plugin_that_fails_is_reported() -> None:
    config = AUTOLOAD_OFF + "".join(section("toolkit", broken.name) for broken in IMPORTS)
    config += "".join(section("plugin", broken.name) for broken in HOOKS)
    expected = [*(case.line("toolkit") for case in IMPORTS), *(case.line("plugin") for case in HOOKS)]
    assert sorted(refused(pegboard(samples(), "stdio", config=config))) == sorted(expected)


@pytest.mark.parametrize(
    ("settings", "arguments", "expected"),
    [
        (section("plugin", LIFELESS.name) + section("toolkit", "greeter"), (), [LIFELESS.line("plugin")]),
        (f'error_adapters = ["{HOOKS[0].name}"]\n', (), [HOOKS[0].line("plugin")]),
        (f'required = ["{HOOKS[0].name}"]\n', (), [HOOKS[0].line("plugin"), HOOKS[0].line("toolkit")]),
        ("", ("--only", f"greeter,{IMPORTS[0].name}"), [IMPORTS[0].line("toolkit")]),
        (
            "[plugins.shout]\nvolume = 11\n",
            (),
            [f"{SHOUT}, config: hostconfig.toml:5: plugins.shout.volume: takes no settings"],
        ),
    ],
    ids=["a section", "a list", "required", "--only", "settings"],
)
def test_named_plugins_that_fail_stop_the_start(settings: str, arguments: tuple[str, ...], expected: list[str]) -> None:
    assert refused(pegboard(samples(), "stdio", *arguments, config=AUTOLOAD_OFF + settings)) == expected


def test_strict_makes_every_failure_fatal() -> None:
    expected = [*(broken.line("toolkit") for broken in TOOLKITS), IMPOSTOR.line("plugin")]
    assert sorted(refused(pegboard(samples(), "stdio", "--strict"))) == sorted(expected)
    sound = pegboard(samples(), "stdio", "--strict", "--only", "greeter,meter", config=f"[host]\n{NO_IMPOSTOR}\n")
    assert (sound.code, complaints(sound.err)) == (0, [])


def test_safe_does_not_start_with_a_section_of_an_absent_plugin() -> None:
    # it may be an authenticator, without which MCP would be open
    done = pegboard(samples(), "stdio", "--safe", config="[plugins.gone]\nkey = 1\n")
    assert done.code == 3
    assert "plugins.gone: no plugin with this name is installed" in done.err


def test_safe_starts_only_built_in_plugins() -> None:
    config = "".join(section("plugin", broken.name) for broken in HOOKS) + "[toolkits.greeter]\n"
    done = pegboard(samples(), "stdio", "--safe", config=config)
    assert done.code == 0
    *disabled, last = complaints(done.err)
    assert all("--safe starts with the built-in defaults alone" in line for line in disabled)
    assert "no tools are served" in last
