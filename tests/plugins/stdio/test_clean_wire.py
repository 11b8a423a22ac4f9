"""The real command: only JSON-RPC on standard output; printed lines are logged under the name of their tool.

`Wire` refuses any line of the host's standard output that is not a message the protocol allows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.plugins.stdio import printing_kit
from tests.support.pool import make_site
from tests.support.wire import Wire

CONFIG = "[host]\nautoload = false\n[toolkits.printer]\n"
RECORD = "WARNING pegboard.stdout: {} printed to standard output: {}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site"), {"printer": printing_kit})


@pytest_asyncio.fixture
async def wire(site: Path) -> AsyncIterator[Wire]:
    async with Wire(config=CONFIG, site=site, env={"PYTHONUTF8": "1"}) as wire:
        wire.modern = True
        yield wire


async def call(wire: Wire, tool: str, **arguments: object) -> str:
    result = await wire.result("tools/call", {"name": f"printer_{tool}", "arguments": arguments})
    assert not result.get("isError"), result
    text: str = result["content"][0]["text"]
    return text


async def log_of(wire: Wire) -> list[str]:
    """End the input, as a client does, and return what the host has logged."""
    wire.process.stdin.close()  # type: ignore[union-attr]  # made with a pipe
    assert await wire.wait() == 0
    return [line.partition("Z ")[2] for line in wire.stderr.splitlines()]


async def test_printed_lines_are_logged_under_the_name_of_their_tool(wire: Wire) -> None:
    calls = [(how, tool) for how in printing_kit.WAYS for tool in ("sync", "async", "inline")]
    calls += [(how, tool) for how in ("descriptor", "C puts") for tool in ["sync", "inline"] * 20]
    for number, (how, tool) in enumerate(calls):
        assert await call(wire, tool, how=how, text=f"{number} {how}") == f"{number} {how}"
    assert await log_of(wire) == [
        RECORD.format(f"tool printer_{tool}", f"{number} {how}") for number, (how, tool) in enumerate(calls)
    ]


async def test_tools_that_print_at_the_same_time_are_distinguished_where_possible(wire: Wire) -> None:
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


async def test_a_tool_may_print_megabytes_on_the_event_loop(wire: Wire) -> None:
    ways = ["print", "descriptor", "C puts"]
    for how in ways:
        await call(wire, "inline", how=how, text="x" * 1000, times=1000)
    assert await log_of(wire) == [RECORD.format("tool printer_inline", "x" * 1000)] * 1000 * len(ways)
