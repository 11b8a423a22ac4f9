"""JSON-RPC batches: 2025-03-26 has them, the other revisions do not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import pytest_asyncio

from tests.support.mcp_client import NEWEST, McpClient, McpServer
from tests.support.peer import modern_meta
from tests.support.schemas import LEGACY

pytestmark = pytest.mark.asyncio(loop_scope="session")

BATCHES = "2025-03-26"
INVALID = -32600


def request(request_id: Any, method: str = "ping", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method} | ({"params": params} if params else {})


def call(request_id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(request_id, "tools/call", name=tool, arguments=arguments)


def notification(method: str = "notifications/initialized", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


@pytest_asyncio.fixture(loop_scope="session")
async def batching(server: McpServer) -> McpClient:
    """A session of the one revision with batches."""
    return await server.shared(BATCHES)  # type: ignore[no-any-return]


async def answer(client: McpClient, batch: list[Any]) -> Any:
    return (await client.send_raw(json.dumps(batch).encode())).message


@pytest.mark.requirement("MSG-15", "MSG-16", "MSG-17")
async def test_a_batch_gets_one_batch_of_responses(batching: McpClient) -> None:
    """One for each request and for each invalid element, none for a notification."""
    assert await answer(batching, [request(1)]) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    batch = [
        request(1),
        notification("notifications/unheard-of"),
        request("2", "tools/list"),
        call(3, "fixture_echo", text="x"),
        request(4, "no/such"),
        call(5, "fixture_refuse", reason="x"),
        request(6, "initialize", protocolVersion=BATCHES, capabilities={}),
        request(7, "tools/list", _meta=modern_meta()),
        *(1, {"foo": 1}, request(None), [request(8)]),
    ]
    found = await answer(batching, batch)
    by_id = {one["id"]: one for one in found if one.get("id") is not None}
    assert set(by_id) == {1, "2", 3, 4, 5, 6, 7}
    assert by_id[1]["result"] == {}
    assert by_id["2"]["result"]["tools"]
    assert by_id[3]["result"]["content"][0]["text"] == "x"
    assert by_id[5]["result"]["isError"] is True
    assert {number: by_id[number]["error"]["code"] for number in (4, 6, 7)} == {4: -32601, 6: INVALID, 7: INVALID}
    assert [one["error"]["code"] for one in found if one.get("id") is None] == [INVALID] * 4
    assert await batching.settle() == []


async def test_an_id_or_a_member_that_is_there_twice_is_refused(batching: McpClient) -> None:
    twice = await answer(batching, [call(1, "fixture_echo", text="x"), request(1)])
    assert [one["id"] for one in twice] == [1, 1]
    assert [one["error"]["code"] for one in twice if "error" in one] == [INVALID]
    raw = b'[{"jsonrpc":"2.0","id":70,"method":"ping"},{"jsonrpc":"2.0","id":71,"id":72,"method":"ping"}]'
    found: Any = (await batching.send_raw(raw)).message
    assert [one for one in found if "error" in one] if isinstance(found, list) else found["error"]


async def test_a_batch_without_requests_gets_no_response(batching: McpClient) -> None:
    for batch in ([notification()], [notification(), notification("notifications/cancelled", requestId=99)]):
        assert await batching.send(batch) in (None, 202)
    assert await batching.send([notification(), {"jsonrpc": "2.0", "id": 1, "result": {}}]) in (None, 404)
    assert await batching.settle() == []


async def test_a_cancelled_request_is_left_out_of_the_response(batching: McpClient) -> None:
    batch = asyncio.create_task(answer(batching, [call("gone", "fixture_wait", label="in a batch"), request("stays")]))
    while not (await asyncio.wait({batch}, timeout=0.1))[0]:  # a cancellation that comes too early is ignored
        await batching.notify("notifications/cancelled", {"requestId": "gone"})
    assert [one["id"] for one in await batch] == ["stays"]


@pytest.mark.requirement("SEC-03")
async def test_a_batch_with_too_many_requests_is_refused_whole(batching: McpClient) -> None:
    for batch in ([], [request(number) for number in range(101)]):
        found = await answer(batching, batch)
        assert (found["error"]["code"], found.get("id")) == (INVALID, None)


@pytest.mark.requirement("MSG-17")
async def test_an_array_is_refused_in_every_other_revision_and_before_the_handshake(server: McpServer) -> None:
    client = {"clientInfo": {"name": "x", "version": "1"}, "capabilities": {}}
    opening = request(1, "initialize", protocolVersion=BATCHES, **client)
    assert (await answer(await server.client(opened=False), [opening]))["error"]["code"] == INVALID
    for revision in (LEGACY[0], *NEWEST):
        other = await server.shared(revision)
        for batch in ([request(1), request(2)], [notification("notifications/unheard-of")], []):
            found = await answer(other, batch)
            assert (found["error"]["code"], found.get("id")) == (INVALID, None)
        assert await other.settle() == []
