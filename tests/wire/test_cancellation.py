"""Cancellation: sections 4 and 7 of the requirements."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.pool import Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def began(wire: Wire, tool: str, request_id: Any, **arguments: Any) -> None:
    """Begin a call of a tool that waits, and see it begin."""
    params = {"name": f"fixture_{tool}", "arguments": arguments, "_meta": {"progressToken": "begun"}}
    await wire.begin("tools/call", params, id=request_id)
    assert (await wire.receive())["params"]["progress"] == 1


async def cancelled(wire: Wire) -> list[str]:
    """The labels of the calls that saw themselves cancelled."""
    labels: list[str] = json.loads((await wire.call("fixture_cancelled"))["content"][0]["text"])
    return labels


@pytest.mark.requirement("STDIO-05", "STDIO-06", "UTIL-02")
@pytest.mark.parametrize("request_id", [0, 41, "", "a"], ids=repr)
async def test_a_cancelled_call_stops_and_is_not_answered(every: Wire, request_id: Any) -> None:
    label = f"call {request_id!r} of {every.conversation.revision}"
    await began(every, "wait", request_id, label=label)
    await every.notify("notifications/cancelled", {"requestId": request_id, "reason": "no longer needed"})
    assert await every.settle() == []
    assert label in await cancelled(every)


@pytest.mark.requirement("STDIO-06")
async def test_a_tool_that_will_not_stop_is_not_heard_any_more(wire: Wire) -> None:
    """Section 4: nothing more is sent for it, neither progress nor an answer."""
    await began(wire, "stubborn", "stubborn", label=f"stubborn {wire.modern}")
    await wire.notify("notifications/cancelled", {"requestId": "stubborn"})
    assert await wire.settle() == []
    assert f"stubborn {wire.modern}" in await cancelled(wire)
    assert await wire.settle() == []


@pytest.mark.requirement("STDIO-05", "STDIO-06")
async def test_a_tool_in_a_thread_is_told_and_not_heard_any_more(wire: Wire) -> None:
    """A thread cannot be stopped; its tool sees `context.cancelled`."""
    await began(wire, "block", "block", label=f"block {wire.modern}")
    await wire.notify("notifications/cancelled", {"requestId": "block"})
    assert await wire.settle() == []
    await wire.call("fixture_open_gate", cancelled=1)
    assert f"block {wire.modern}" in await cancelled(wire)
    assert await wire.settle() == []


@pytest.mark.requirement("UTIL-02")
async def test_the_id_of_a_cancelled_request_may_be_used_again(wire: Wire) -> None:
    await began(wire, "wait", "again")
    await wire.notify("notifications/cancelled", {"requestId": "again"})
    await wire.settle()
    assert "result" in await wire.request("tools/list", id="again")


@pytest.mark.requirement("UTIL-01", "UTIL-03")
@pytest.mark.parametrize(
    "params",
    [
        {"requestId": "7"},
        {"requestId": 8},
        {"requestId": 7.5},
        {"requestId": None},
        {"requestId": [7]},
        {"requestId": {"id": 7}},
        {},
        {"reason": "all of them"},
    ],
)
async def test_a_cancellation_that_names_no_request_in_flight_is_ignored(wire: Wire, params: dict[str, Any]) -> None:
    await began(wire, "wait", 7)
    await wire.notify("notifications/cancelled", params)
    assert await wire.settle() == []
    await wire.call("fixture_release")
    assert "result" in await wire.answer(7)


@pytest.mark.requirement("UTIL-03", "UTIL-04")
async def test_a_cancellation_that_comes_too_late_is_ignored(wire: Wire) -> None:
    assert "result" in await wire.request("tools/list", id="done")
    await wire.notify("notifications/cancelled", {"requestId": "done"})
    await wire.notify("notifications/cancelled", {"requestId": "done"})
    assert await wire.settle() == []


@pytest.mark.requirement("UTIL-01")
async def test_only_the_call_that_is_named_is_cancelled(wire: Wire) -> None:
    await began(wire, "wait", "one")
    await wire.begin("tools/call", {"name": "fixture_wait", "arguments": {"label": "other"}}, id="other")
    await wire.notify("notifications/cancelled", {"requestId": "one"})
    assert await wire.settle() == []
    await wire.call("fixture_release")
    assert "result" in await wire.answer("other")


@pytest.mark.requirement("STDIO-05", "UTIL-04")
async def test_a_call_may_be_cancelled_before_it_has_begun(wire: Wire) -> None:
    """Both lines reach the host at once."""
    lines = [
        {"jsonrpc": "2.0", "id": "early", "method": "tools/call", "params": {"name": "fixture_wait", "arguments": {}}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "early"}},
    ]
    if wire.modern:
        from tests.support.peer import modern_meta

        lines[0]["params"]["_meta"] = modern_meta()  # type: ignore[index]  # a dict of dicts
    await wire.send_raw(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert await wire.settle() == []


async def test_a_cancellation_reaches_across_eras(pool: Pool) -> None:
    """The pipe is one: a modern request is cancelled by the same notification within a session."""
    async with pool.new() as wire:
        await wire.initialize()
        await wire.begin("tools/call", {"name": "fixture_wait", "arguments": {"label": "x"}}, id="m", modern=True)
        await wire.settle()
        await wire.notify("notifications/cancelled", {"requestId": "m"})
        assert await wire.settle() == []
        assert await cancelled(wire) == ["x"]


@pytest.mark.requirement("UTIL-02")
async def test_hundreds_of_cancelled_calls_leave_room_for_more(wire: Wire) -> None:
    for number in range(300):
        await wire.begin("tools/call", {"name": "fixture_wait", "arguments": {"label": "many"}}, id=f"n{number}")
        await wire.notify("notifications/cancelled", {"requestId": f"n{number}"})
    assert await wire.settle() == []
    assert (await wire.call("fixture_echo", text="x"))["content"][0]["text"] == "x"
