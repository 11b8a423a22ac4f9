"""Progress: section 7 of the requirements, trap 22. That it increases is the recorder's to see."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.hostile_kit import ODD_NUMBERS
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def told(wire: Wire, tool: str, token: Any = "token", **arguments: Any) -> list[dict[str, Any]]:
    """Call a tool that wants its progress told; return the parameters of the notifications before its answer."""
    params = {"name": f"fixture_{tool}", "arguments": arguments, "_meta": {"progressToken": token}}
    before = len(wire.messages)
    answer = await wire.request("tools/call", params)
    heard = wire.messages[before : wire.messages.index(answer, before)]
    assert [await wire.receive() for _ in heard] == heard
    assert await wire.settle() == []
    return [message["params"] for message in heard]


@pytest.mark.requirement("UTIL-10")
@pytest.mark.parametrize("token", ["token", "", 0, 1, -5, 2**53, "ünï"], ids=repr)
async def test_progress_comes_before_the_answer_under_the_token_of_the_request(every: Wire, token: Any) -> None:
    """Trap 22: 0 and "" are tokens like any other."""
    heard = await told(every, "count", token)
    assert [(one["progress"], one["total"]) for one in heard] == [(1, 3), (2, 3), (3, 3)]
    assert all(one["progressToken"] == token and type(one["progressToken"]) is type(token) for one in heard)


@pytest.mark.requirement("UTIL-12")
async def test_progress_of_a_tool_in_a_thread(every: Wire) -> None:
    """Fractions are told as they are, and none comes after the answer."""
    assert [one["progress"] for one in await told(every, "count_sync")] == [0.5, 1, 1.5]


@pytest.mark.requirement("UTIL-14")
@pytest.mark.parametrize(("tool", "steps"), [("chatter", {"steps": 5001, "text": "x"}), ("count_sync", {"to": 10_000})])
async def test_a_flood_of_progress_is_coalesced(every: Wire, tool: str, steps: dict[str, Any]) -> None:
    """The last value comes in any case."""
    heard = [one["progress"] for one in await told(every, tool, **steps)]
    assert len(heard) < 1000
    assert heard[-1] == 5000


@pytest.mark.requirement("UTIL-13")
async def test_a_message_goes_with_it_where_the_revision_knows_one(every: Wire) -> None:
    """Section 2.5: since 2025-03-26."""
    heard = await told(every, "count", to=1, say="one of one")
    assert heard[0].get("message") == (None if every.conversation.revision == "2024-11-05" else "one of one")


@pytest.mark.requirement("UTIL-11")
async def test_progress_that_does_not_increase_is_not_told(every: Wire) -> None:
    assert [one["progress"] for one in await told(every, "stumble")] == [1, 2]


@pytest.mark.parametrize("kind", ODD_NUMBERS)
@pytest.mark.parametrize("part", ["progress", "total"])
async def test_progress_that_is_no_number_harms_nothing(wire: Wire, part: str, kind: str) -> None:
    """The recorder sees that nothing goes out that no client could read; the call is answered in any case."""
    params = {"name": f"hostile_odd_{part}", "arguments": {"kind": kind}, "_meta": {"progressToken": 1}}
    assert "content" in await wire.result("tools/call", params)
    await wire.settle()


async def test_a_message_of_progress_that_is_no_text_harms_nothing(wire: Wire) -> None:
    params = {"name": "hostile_odd_message", "arguments": {}, "_meta": {"progressToken": 1}}
    assert "content" in await wire.result("tools/call", params)
    await wire.settle()


@pytest.mark.requirement("UTIL-10")
@pytest.mark.parametrize("meta", [{}, {"com.example/x": 1}])
async def test_nothing_is_told_that_nobody_asked_for(every: Wire, meta: dict[str, Any]) -> None:
    params = {"name": "fixture_count", "arguments": {}, "_meta": meta}
    assert (await every.result("tools/call", params))["content"][0]["text"] == "counted"
    assert await every.settle() == []


@pytest.mark.requirement("UTIL-10")
async def test_two_calls_are_told_apart(wire: Wire) -> None:
    for token in ("left", "right"):
        params = {"name": "fixture_count", "arguments": {"to": 2}, "_meta": {"progressToken": token}}
        await wire.begin("tools/call", params, id=token)
    heard: dict[str, list[float]] = {"left": [], "right": []}
    for _ in range(4):
        params = (await wire.receive())["params"]
        heard[params["progressToken"]].append(params["progress"])
    assert heard == {"left": [1, 2], "right": [1, 2]}
    for token in heard:
        assert "result" in await wire.answer(token)
