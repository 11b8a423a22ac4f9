"""The real command: nothing but JSON-RPC on standard output, and every line that was kept off it under its tool's name.

`Wire` refuses any line of the host's standard output that is not a message the protocol allows.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.plugins.stdio import printing_kit
from tests.support.distributions import make_distribution
from tests.support.wire import Wire

CONFIG = "[host]\nautoload = false\n[toolkits.printer]\n"
RECORD = "WARNING pegboard.stdout: {} printed to standard output: {}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    make_distribution(
        folder,
        "printing-kit",
        "1.0",
        {"pegboard.toolkits": {"printer": "printing_kit:kit"}},
        {"printing_kit.py": inspect.getsource(printing_kit)},
    )
    return folder


@pytest_asyncio.fixture
async def wire(site: Path) -> AsyncIterator[Wire]:
    async with Wire(config=CONFIG, site=site, env={"PYTHONUTF8": "1"}) as wire:
        wire.modern = True
        yield wire


async def call(wire: Wire, tool: str, **arguments: str) -> str:
    result = await wire.result("tools/call", {"name": f"printer_{tool}", "arguments": arguments})
    assert not result.get("isError"), result
    text: str = result["content"][0]["text"]
    return text


async def log_of(wire: Wire) -> list[str]:
    """End the input, as a client does, and give what the host has logged."""
    wire.process.stdin.close()  # type: ignore[union-attr]  # made with a pipe
    assert await wire.wait() == 0
    return [line.partition("Z ")[2] for line in wire.stderr.splitlines()]


@pytest.mark.parametrize("how", printing_kit.WAYS)
async def test_whatever_prints_is_logged_by_name(wire: Wire, how: str) -> None:
    for tool in ("sync", "async", "inline"):
        assert await call(wire, tool, how=how, text=f"said-by-{tool}") == f"said-by-{tool}"
    assert await log_of(wire) == [
        RECORD.format(f"tool printer_{tool}", f"said-by-{tool}") for tool in ("sync", "async", "inline")
    ]


@pytest.mark.parametrize("how", ["descriptor", "C puts"])
async def test_the_name_is_right_every_time(wire: Wire, how: str) -> None:
    tools = ["sync", "inline"] * 50
    for number, tool in enumerate(tools):
        await call(wire, tool, how=how, text=str(number))
    assert await log_of(wire) == [RECORD.format(f"tool printer_{tool}", number) for number, tool in enumerate(tools)]


async def test_tools_that_print_at_the_same_time_are_told_apart_where_that_can_be(wire: Wire) -> None:
    requests = [await wire.begin("tools/call", {"name": f"printer_{tool}"}) for tool in ("one", "two")]
    for request in requests:
        assert "result" in await wire.answer(request)
    both = "one of the tools printer_one, printer_two"
    assert sorted(await log_of(wire)) == [
        RECORD.format(both, "written by one"),
        RECORD.format(both, "written by two"),
        RECORD.format("tool printer_one", "begun by one, ended by one"),
        RECORD.format("tool printer_two", "begun by two, ended by two"),
    ]


@pytest.mark.parametrize("how", ["print", "descriptor", "C puts"])
async def test_a_tool_may_print_a_megabyte_on_the_event_loop(wire: Wire, how: str) -> None:
    assert await call(wire, "megabyte", how=how) == "done"
    assert await log_of(wire) == [RECORD.format("tool printer_megabyte", "x" * 1000)] * 1000


async def test_tools_find_no_input(wire: Wire) -> None:
    result = await wire.result("tools/call", {"name": "printer_input"})
    assert result["structuredContent"] == ["", "", "", "nobody"]
    assert await log_of(wire) == [RECORD.format("tool printer_input", "your name? ")]


async def test_who_sends_and_leaves_at_once_gets_what_needs_no_waiting(wire: Wire) -> None:
    """`echo '{...}' | pegboard stdio`: both the request and the end of input are there before the host is."""
    request = await wire.begin("tools/call", {"name": "printer_async", "arguments": {"how": "print", "text": "x"}})
    wire.process.stdin.close()  # type: ignore[union-attr]  # made with a pipe
    assert "result" in await wire.answer(request)
    assert await wire.wait() == 0
