"""JSON-RPC batches: 2025-03-26 has them, nothing else has. Section 3.2 of the requirements, A-3, A-4, trap 28."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from tests.support.peer import modern_meta
from tests.support.pool import Pool
from tests.support.schemas import REVISIONS
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


def request(request_id: Any, method: str = "ping", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method} | ({"params": params} if params else {})


def call(request_id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(request_id, "tools/call", name=tool, arguments=arguments)


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


@pytest_asyncio.fixture(loop_scope="session")
async def batching(pool: Pool) -> Wire:
    """A session of the one revision with batches."""
    return await pool.get("2025-03-26")


@pytest.mark.requirement("MSG-15")
async def test_a_batch_is_answered_by_one_batch(batching: Wire) -> None:
    """A-4: an answer for each request, none for a notification."""
    await batching.send(
        [
            request(1),
            notification("notifications/unheard-of"),
            request("2", "tools/list"),
            call(3, "fixture_echo", text="x"),
            request(4, "no/such"),
            call(5, "fixture_refuse", reason="x"),
        ]
    )
    answers = {answer["id"]: answer for answer in await batching.receive()}
    assert set(answers) == {1, "2", 3, 4, 5}
    assert answers[1]["result"] == {}
    assert answers["2"]["result"]["tools"]
    assert answers[3]["result"]["content"][0]["text"] == "x"
    assert answers[4]["error"]["code"] == -32601
    assert answers[5]["result"]["isError"] is True
    assert await batching.settle() == []


@pytest.mark.requirement("MSG-15")
async def test_a_batch_of_one_is_still_a_batch(batching: Wire) -> None:
    await batching.send([request(1)])
    assert await batching.receive() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.parametrize(
    "batch",
    [
        [notification("notifications/unheard-of")],
        [notification("notifications/initialized"), notification("notifications/cancelled", requestId=99)],
        [{"jsonrpc": "2.0", "id": 1, "result": {}}],
    ],
)
async def test_a_batch_without_requests_is_not_answered(batching: Wire, batch: list[Any]) -> None:
    await batching.send(batch)
    assert await batching.settle() == []


@pytest.mark.requirement("MSG-15")
async def test_what_is_no_message_within_a_batch_gets_an_error_of_its_own(batching: Wire) -> None:
    """JSON-RPC 2.0, section 6."""
    await batching.send([1, {"foo": 1}, request(None), [request(8)], request(9)])
    answers = await batching.receive()
    assert sorted(str(answer.get("id")) for answer in answers) == ["9", "None", "None", "None", "None"]
    assert [answer["error"]["code"] for answer in answers if answer.get("id") is None] == [-32600] * 4


async def test_a_member_that_stands_twice_is_refused_in_a_batch_too(batching: Wire) -> None:
    await batching.send_raw(
        b'[{"jsonrpc":"2.0","id":70,"method":"ping"},{"jsonrpc":"2.0","id":71,"id":72,"method":"ping"}]\n'
    )
    answer = await batching.receive()
    assert [one for one in answer if "error" in one] if isinstance(answer, list) else answer["error"]


@pytest.mark.requirement("MSG-16")
async def test_the_handshake_may_not_be_in_a_batch(batching: Wire) -> None:
    await batching.send([request(1, "initialize", protocolVersion="2025-03-26", capabilities={}), request(2)])
    answers = {answer["id"]: answer for answer in await batching.receive()}
    assert answers[1]["error"]["code"] == -32600
    assert answers[2]["result"] == {}


async def test_an_id_twice_in_a_batch_is_refused_once(batching: Wire) -> None:
    await batching.send([call(1, "fixture_echo", text="x"), request(1)])
    answers = await batching.receive()
    assert [answer["id"] for answer in answers] == [1, 1]
    assert sorted(answer["error"]["code"] for answer in answers if "error" in answer) == [-32600]


async def test_progress_comes_outside_the_batch_of_answers(batching: Wire) -> None:
    await batching.send(
        [request(1, "tools/call", name="fixture_count", arguments={"to": 2}, _meta={"progressToken": 7})]
    )
    told = [await batching.receive() for _ in range(3)]
    assert [message["params"]["progress"] for message in told[:2]] == [1, 2]
    assert told[2][0]["result"]["content"][0]["text"] == "counted"


async def test_a_cancelled_request_is_left_out_of_the_batch_of_answers(batching: Wire) -> None:
    await batching.send([call("gone", "fixture_wait", label="in a batch"), request("stays")])
    await batching.settle()
    await batching.notify("notifications/cancelled", {"requestId": "gone"})
    assert [answer["id"] for answer in await batching.receive()] == ["stays"]


async def test_a_batch_that_is_cancelled_whole_is_not_answered(batching: Wire) -> None:
    await batching.send([call("alone", "fixture_wait", label="alone in a batch")])
    await batching.settle()
    await batching.notify("notifications/cancelled", {"requestId": "alone"})
    assert await batching.settle() == []


async def test_other_requests_overtake_a_batch_that_takes_long(batching: Wire) -> None:
    await batching.send([call("slow", "fixture_wait", label="slow batch")])
    assert await batching.result("ping") == {}
    await batching.call("fixture_release")
    assert [answer["id"] for answer in await batching.receive()] == ["slow"]


@pytest.mark.requirement("SEC-03")
async def test_a_batch_with_too_much_in_it_is_refused_whole(batching: Wire) -> None:
    """Section 3.2: the count is capped; one line must not start any number of calls."""
    await batching.send([request(number) for number in range(20_000)])
    answer = await batching.receive()
    assert answer["error"]["code"] == -32600
    assert answer.get("id") is None


@pytest.mark.requirement("MSG-17")
@pytest.mark.parametrize("batch", [[request(1), request(2)], [notification("notifications/unheard-of")], []])
@pytest.mark.parametrize("revision", [revision for revision in REVISIONS if revision != "2025-03-26"])
async def test_an_array_is_refused_in_every_other_revision(pool: Pool, revision: str, batch: list[Any]) -> None:
    """A-3, A-4, trap 28: one error, and nothing of it is served."""
    wire = await pool.get(revision)
    await wire.send(batch)
    answer = await wire.receive()
    assert answer["error"]["code"] == -32600
    assert answer.get("id") is None
    assert await wire.settle() == []


async def test_an_empty_batch_is_refused_where_there_are_batches(batching: Wire) -> None:
    """A-3."""
    await batching.send([])
    assert (await batching.receive())["error"]["code"] == -32600


@pytest.mark.requirement("MSG-17")
async def test_an_array_is_refused_before_the_handshake(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.send([request(1)])
        assert (await wire.receive())["error"]["code"] == -32600


@pytest.mark.requirement("MSG-17")
async def test_modern_requests_come_in_no_batch(batching: Wire) -> None:
    """2026-07-28 has no batches, whatever the session on the same pipe agreed on."""
    await batching.send([request(1, "tools/list", _meta=modern_meta())])
    (answer,) = await batching.receive()
    assert answer["error"]["code"] == -32600
