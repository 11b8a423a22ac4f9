"""The end: clients.md 1 to 3, section 4, F-13.

Real clients wait 2 seconds before they send SIGTERM; the tests with the official SDK's clients see that it takes less.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tests.support.pool import Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def ended(wire: Wire) -> int:
    """Close the input, and wait for the process to end by itself."""
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    return await wire.wait()


@pytest.mark.requirement("STDIO-07")
@pytest.mark.parametrize("opened", [False, True])
async def test_the_end_of_input_ends_the_process_with_0(pool: Pool, opened: bool) -> None:
    async with pool.new() as wire:
        if opened:
            await wire.initialize()
        assert await ended(wire) == 0


@pytest.mark.parametrize("tool", ["wait", "stubborn", "block"])
async def test_nothing_is_written_after_the_end_of_input(pool: Pool, tool: str) -> None:
    """clients.md 1: not even an error for a call that still runs; one that blocks a thread holds up nobody."""
    async with pool.new() as wire:
        await wire.initialize()
        params: dict[str, Any] = {"name": f"fixture_{tool}", "arguments": {}, "_meta": {"progressToken": 1}}
        await wire.begin("tools/call", params)
        await wire.receive()
        before = len(wire.messages)
        assert await ended(wire) == 1
        assert wire.messages[before:] == []


async def test_an_unfinished_line_is_not_answered(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.initialize()
        before = len(wire.messages)
        await wire.send_raw(b'{"jsonrpc":"2.0","id":9,"meth')
        assert await ended(wire) == 0
        assert wire.messages[before:] == []


@pytest.mark.requirement("STDIO-07")
async def test_a_client_that_no_longer_reads_does_not_keep_the_process(pool: Pool) -> None:
    """F-13: a broken pipe is the end, not a crash."""
    async with pool.new() as wire:
        await wire.initialize()
        descriptor = wire.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]  # asyncio closes it nowhere else
        descriptor.close()
        for _ in range(20):
            await wire.notify("notifications/unheard-of")
        await wire.begin("tools/call", {"name": "fixture_large", "arguments": {"size": 1_000_000}})
        assert await ended(wire) in {0, 1}
        assert "Traceback" not in wire.stderr


@pytest.mark.requirement("STDIO-07")
@pytest.mark.parametrize("opened", [False, True])
async def test_sigterm_ends_the_process_with_0(pool: Pool, opened: bool) -> None:
    """Section 7 of the design: a bounded end, and the code of success."""
    async with pool.new() as wire:
        await (wire.initialize() if opened else wire.result("server/discover", modern=True))
        wire.signal(signal.SIGTERM)
        assert await wire.wait() == 0


async def test_sigterm_lets_a_call_in_flight_finish(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.initialize()
        params: dict[str, Any] = {"name": "fixture_block", "arguments": {}, "_meta": {"progressToken": 1}}
        blocked = await wire.begin("tools/call", params)
        await wire.receive()
        opening = await wire.begin("tools/call", {"name": "fixture_open_gate", "arguments": {}})
        wire.signal(signal.SIGTERM)
        assert "result" in await wire.answer(blocked)
        assert "result" in await wire.answer(opening)
        assert await wire.wait() == 0


async def test_sigterm_is_safe_at_any_time(pool: Pool) -> None:
    """clients.md 3: a client starts a probe and ends it at once; it must go, by itself or by the signal."""
    async with pool.new() as wire:
        wire.signal(signal.SIGTERM)
        assert await wire.wait() in {0, -signal.SIGTERM}
        assert wire.messages == []


async def test_two_processes_of_one_configuration_run_side_by_side(pool: Pool) -> None:
    """clients.md 3: neither takes a lock or a port that the other needs."""
    async with pool.new() as probe:
        await probe.result("server/discover", modern=True)
        async with pool.new() as wire:
            await wire.initialize()
            assert await ended(probe) == 0
            assert (await wire.call("fixture_echo", text="x"))["content"][0]["text"] == "x"


async def test_no_process_of_the_host_is_left_behind(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.initialize()
        pid = wire.process.pid
        assert await ended(wire) == 0
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
