"""The end of a process: end of input, signals, and clients that do not read.

Real clients wait 2 seconds before they send SIGTERM; the tests with the official SDK's clients see that it takes less.
"""

from __future__ import annotations

import asyncio
import json
import signal
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.stdio.conftest import New
from tests.support import unruly_kit
from tests.support.http_mcp import call, modern
from tests.support.peer import WAIT
from tests.support.pool import CONFIG, make_site
from tests.support.wire import Wire, client_environment, naming_config


async def ended(wire: Wire) -> int:
    """Close the input, and wait for the process to end."""
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    return await wire.wait()


async def begun(wire: Wire, tool: str, **arguments: Any) -> Any:
    """Begin a call, and wait until it has begun."""
    params: dict[str, Any] = {"name": f"fixture_{tool}", "arguments": arguments, "_meta": {"progressToken": tool}}
    request_id = await wire.begin("tools/call", params)
    await wire.receive()
    return request_id


@pytest.mark.requirement("STDIO-07")
async def test_an_idle_process_ends_with_0(new: New, wire: Wire) -> None:
    before = len(wire.messages)
    await wire.send_raw(b'{"jsonrpc":"2.0","id":9,"meth')  # a line without an end
    assert await ended(wire) == 0
    assert wire.messages[before:] == []
    async with new() as other:
        await other.result("server/discover", modern=True)
        other.signal(signal.SIGTERM)
        assert await other.wait() == 0


async def test_nothing_is_written_after_the_end_of_a_conversation(new: New) -> None:
    """Not even an error for a running call, a question or a subscription; a blocked thread holds up nothing.

    Clients end in this way, so it is no failure.
    """
    async with new() as wire:
        await wire.initialize()
        for tool in ("wait", "stubborn", "block"):
            await begun(wire, tool)
        await wire.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, modern=True)
        await wire.receive()
        before = len(wire.messages)
        assert await ended(wire) == 0
        assert wire.messages[before:] == []
        assert "which dropped 3 calls in flight" in wire.stderr
        assert "pegboard stdio --finish" in wire.stderr


@pytest.mark.parametrize("source", ["cat requests |", "< requests"], ids=["pipe", "file"])
async def test_dropped_calls_of_input_that_nobody_answers_to_fail(
    sites: dict[str, Path], command: tuple[str, ...], tmp_path: Path, source: str
) -> None:
    """All of the input arrived before the first response, so no client read it."""
    calls = [modern(call("fixture_nothing", id=1)), modern(call("fixture_wait", id=2))]
    (tmp_path / "requests").write_text("".join(f"{json.dumps(request)}\n" for request in calls))
    shell = ["sh", "-c", f'{source} "$0" "$@"', *map(str, command)]
    (tmp_path / "hostconfig.toml").write_text(CONFIG)
    env = client_environment(tmp_path, {**naming_config(tmp_path), "PYTHONPATH": str(sites["fixture"])})
    process = await asyncio.create_subprocess_exec(*shell, cwd=tmp_path, env=env, stdout=PIPE, stderr=PIPE)
    out, err = await asyncio.wait_for(process.communicate(), WAIT)
    assert (process.returncode, [json.loads(line)["id"] for line in out.splitlines()]) == (1, [1])
    assert b"which dropped 1 call in flight" in err


@pytest.mark.requirement("STDIO-07")
async def test_a_client_that_no_longer_reads_does_not_keep_the_process(wire: Wire) -> None:
    """A broken pipe is the end, not a crash."""
    wire.process.stdout._transport.close()  # type: ignore[union-attr]  # asyncio closes it nowhere else
    for _ in range(20):
        await wire.notify("notifications/unheard-of")
    await wire.begin("tools/call", {"name": "fixture_large", "arguments": {"size": 1_000_000}})
    assert await ended(wire) in {0, 1}
    assert "Traceback" not in wire.stderr


async def test_sigterm_lets_a_call_in_flight_finish(wire: Wire) -> None:
    blocked = await begun(wire, "block")
    opening = await wire.begin("tools/call", {"name": "fixture_open_gate", "arguments": {}})
    wire.signal(signal.SIGTERM)
    assert "result" in await wire.answer(blocked)
    assert "result" in await wire.answer(opening)
    assert await wire.wait() == 0


async def test_sigterm_is_safe_at_any_time(new: New) -> None:
    """A client starts a probe and ends it at once, beside another process of the same configuration."""
    async with new() as probe, new() as wire:
        probe.signal(signal.SIGTERM)
        await wire.initialize()
        assert await probe.wait() in {0, -signal.SIGTERM}
        assert probe.messages == []
        assert (await wire.call("fixture_echo", text="x"))["content"][0]["text"] == "x"


@pytest.fixture(scope="session")
def unruly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("unruly"), {"unruly": unruly_kit})


@pytest.mark.parametrize(
    ("arguments", "config"),
    [(["--finish"], ""), ([], '[plugins.stdio]\nafter_eof = "finish"\n')],
    ids=["option", "key"],
)
async def test_a_call_in_flight_is_finished_where_configured(unruly: Path, arguments: list[str], config: str) -> None:
    async with Wire(arguments=arguments, config=CONFIG + config, site=unruly) as wire:
        await wire.begin("tools/call", {"name": "unruly_nap", "arguments": {"times": 100_000}}, modern=True)
        assert await ended(wire) == 0
    assert [message["result"]["content"][0]["text"] for message in wire.messages] == ["rested" * 100_000]
