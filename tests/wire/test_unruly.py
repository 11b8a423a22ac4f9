"""Tools that print without end, exit, and block the event loop, on standard streams and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import unruly_kit
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, call, mirrored, modern
from tests.support.pool import CONFIG, make_site
from tests.support.wire import PEGBOARD, Wire

Call = Callable[..., Awaitable[dict[str, Any]]]
WATCHED = "blocked_loop_seconds = 0.1\n"
RUNS = 8
"""Each run crashed with a probability of more than a half."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site"), {"unruly": unruly_kit})


async def begin(wire: Wire, tool: str, **arguments: Any) -> Any:
    params = {"name": f"unruly_{tool}", "arguments": arguments, "_meta": {"progressToken": 1}}
    return await wire.begin("tools/call", params, modern=True)


@pytest.mark.parametrize("how", ["print", "child"])
@pytest.mark.parametrize("by", ["end of input", "SIGTERM"])
async def test_a_tool_that_prints_at_the_end_harms_nothing(site: Path, by: str, how: str) -> None:
    for _ in range(RUNS if how == "print" else 1):
        async with Wire(config=CONFIG, site=site) as wire:
            await begin(wire, "print_on", how=how)
            temporary = (await wire.receive())["params"]["message"]
            if by == "SIGTERM":
                wire.signal(signal.SIGTERM)
            else:
                wire.process.stdin.close()  # type: ignore[union-attr]  # made with a pipe
            assert await wire.wait() == (0 if by == "SIGTERM" else 1)
            assert unruly_kit.CLOSED in wire.stderr
            assert not await asyncio.to_thread(os.path.exists, temporary)
        assert len(wire.messages) == 1


@asynccontextmanager
async def calling(transport: str, site: Path) -> AsyncIterator[Call]:
    """Start a server. Yield a function that calls a tool and returns its result."""
    if transport == "stdio":
        async with Wire(config=CONFIG, site=site) as wire:
            yield lambda tool, **arguments: wire.result(
                "tools/call", {"name": tool, "arguments": arguments}, modern=True
            )
    else:
        async with Served(site) as served:

            async def send(tool: str, **arguments: Any) -> Any:
                return (await ask(served, call(tool, arguments))).last["result"]

            yield send


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_an_exit_that_a_tool_causes_elsewhere_fails_that_call_at_most(transport: str, site: Path) -> None:
    async with calling(transport, site) as send:
        failed = [how for how in unruly_kit.EXITS if (await send("unruly_exits", how=how))["isError"]]
        assert failed[:5] == list(unruly_kit.EXITS)[:5]
        assert (await send("unruly_nap"))["content"][0]["text"] == "rested"


async def test_an_exit_elsewhere_fails_a_call_from_the_shell(site: Path) -> None:
    command = [str(PEGBOARD), "call", "unruly_exits", "how=create_task"]
    async with Wire(command, config=CONFIG, site=site) as wire:
        assert await wire.wait() == 1
        assert "unruly_exits failed" in wire.stderr
        assert unruly_kit.CLOSED in wire.stderr


def wait_until_caught(pid: int, number: signal.Signals) -> None:
    """Wait until a process has no handler for a signal any more (Linux): it has caught the first one."""
    caught = 1 << number - 1
    while caught & int(re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[0], 16):
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("how", ["busy", "asleep"])
async def test_a_second_signal_ends_a_process_whose_event_loop_is_blocked(
    site: Path, how: str, number: signal.Signals
) -> None:
    async with Served(site, http_config(host=WATCHED)) as served:
        one = modern(call("unruly_block", {"how": how}))
        line = await served.connect()
        await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        await served.said("blocked the event loop")
        served.signal(number)
        await asyncio.to_thread(wait_until_caught, served.pid, number)
        served.signal(number)
        assert await served.wait() == -number


NAP = {"name": "unruly_nap", "arguments": {"times": 100_000}}
ENDLESS = {"name": "unruly_nap", "arguments": {"seconds": 3600}}


async def after_the_end(wire: Wire, params: dict[str, Any]) -> int:
    """Send a call and end the input at once, as a shell does; return the exit code."""
    await wire.begin("tools/call", params, modern=True)
    wire.process.stdin.close()  # type: ignore[union-attr]  # made with a pipe
    return await wire.wait()


async def test_a_call_that_is_dropped_at_the_end_of_input_is_reported(site: Path) -> None:
    async with Wire(config=CONFIG, site=site) as wire:
        assert await after_the_end(wire, ENDLESS) == 1
        assert "which dropped 1 call in flight" in wire.stderr
        assert "pegboard stdio --finish" in wire.stderr


@pytest.mark.parametrize(
    ("arguments", "config"),
    [(["--finish"], ""), ([], '[plugins.stdio]\nafter_eof = "finish"\n')],
    ids=["option", "key"],
)
async def test_a_call_in_flight_is_finished_where_that_is_asked_for(
    site: Path, arguments: list[str], config: str
) -> None:
    async with Wire(arguments=arguments, config=CONFIG + config, site=site) as wire:
        assert await after_the_end(wire, NAP) == 0
    assert [message["result"]["content"][0]["text"] for message in wire.messages] == ["rested" * 100_000]
