"""Ids, notifications and answers: section 2.7 of the requirements, A-14, A-16, clients.md 17."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.peer import modern_meta
from tests.support.pool import Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("MSG-07")
@pytest.mark.parametrize(
    "request_id", [0, 1, -1, 2**53, 2**70, "", "0", "listen:0", "ünïcode", "a" * 1000, 'quo"te'], ids=repr
)
async def test_an_id_comes_back_as_it_was_sent(wire: Wire, request_id: Any) -> None:
    """clients.md 17: 0 and "" are ids like any other."""
    answer = await wire.request("tools/list", id=request_id)
    assert answer["id"] == request_id
    assert type(answer["id"]) is type(request_id)


@pytest.mark.requirement("MSG-07")
async def test_a_number_and_its_text_are_two_ids(wire: Wire) -> None:
    calls = {request_id: {"name": "fixture_wait", "arguments": {"label": repr(request_id)}} for request_id in (1, "1")}
    for request_id, params in calls.items():
        await wire.begin("tools/call", params, id=request_id)
    await wire.settle()
    await wire.call("fixture_release")
    for request_id in calls:
        assert (await wire.answer(request_id))["result"]["content"][0]["text"] == "released"


@pytest.mark.requirement("MSG-05")
@pytest.mark.parametrize("request_id", [7, "seven", 0, ""], ids=repr)
async def test_an_id_that_is_in_use_is_refused_and_the_first_request_goes_on(wire: Wire, request_id: Any) -> None:
    """A-14, section 2.7."""
    await wire.begin("tools/call", {"name": "fixture_wait", "arguments": {}}, id=request_id)
    await wire.settle()
    assert (await wire.request("tools/list", id=request_id))["error"]["code"] == -32600
    wire.expect(request_id)
    await wire.call("fixture_release")
    assert (await wire.answer(request_id))["result"]["content"][0]["text"] == "released"


async def test_an_id_may_be_used_again_once_it_is_answered(wire: Wire) -> None:
    for _ in range(3):
        assert "result" in await wire.request("tools/list", id="again")


@pytest.mark.requirement("ERA-16")
async def test_many_requests_at_once_are_all_answered(wire: Wire) -> None:
    asked = [
        await wire.begin("tools/call", {"name": "fixture_echo", "arguments": {"text": str(number)}})
        for number in range(200)
    ]
    texts = [(await wire.answer(request_id))["result"]["content"][0]["text"] for request_id in asked]
    assert texts == [str(number) for number in range(200)]


@pytest.mark.requirement("MSG-11")
@pytest.mark.parametrize(
    "message",
    [
        {"method": "notifications/unheard-of"},
        {"method": "notifications/initialized"},
        {"method": "notifications/roots/list_changed"},
        {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"method": "notifications/cancelled"},
        {"method": "notifications/cancelled", "params": {"requestId": None}},
        {"method": "notifications/cancelled", "params": {"requestId": {}}},
        {"method": "notifications/cancelled", "params": {"requestId": "never-sent"}},
        {"method": "tools/list"},
        {"method": "tools/call", "params": {"name": "fixture_echo", "arguments": {"text": "x"}}},
        {"method": "initialize", "params": {}},
        {"method": "tools/list", "params": {"_meta": modern_meta()}},
        {"method": "tools/list", "params": {"_meta": modern_meta("1900-01-01")}},
        {"method": "nonsense", "params": []},
    ],
)
async def test_what_has_no_id_gets_no_answer(wire: Wire, message: dict[str, Any]) -> None:
    """A-16 and JSON-RPC 2.0: a notification is never answered, not even a wrong one or one of a request's name."""
    await wire.send({"jsonrpc": "2.0", **message})
    assert await wire.settle() == []


async def test_a_request_without_an_id_does_nothing(pool: Pool) -> None:
    """What nobody can wait for is not run either."""
    async with pool.new() as wire:
        await wire.initialize()
        await wire.notify("tools/call", {"name": "fixture_wait", "arguments": {"label": "unasked"}})
        await wire.settle()
        await wire.close()
        assert "unasked" not in wire.stderr


@pytest.mark.parametrize(
    "message",
    [
        {"id": 99, "result": {}},
        {"id": "x", "error": {"code": -32603, "message": "we never asked"}},
        {"id": 99, "result": {"action": "accept"}},
    ],
)
async def test_an_answer_to_nothing_is_ignored(wire: Wire, message: dict[str, Any]) -> None:
    """The host asks clients nothing yet; what answers nothing must not be taken for a request."""
    await wire.send({"jsonrpc": "2.0", **message})
    assert await wire.settle() == []
