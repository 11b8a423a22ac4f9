"""JSON, JSON-RPC messages, ids and notifications: what is malformed is refused and ends neither host nor connection."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import pytest_asyncio

from tests.support.hostile_kit import OUTBURSTS
from tests.support.http import LEAKS
from tests.support.mcp_client import NEWEST, McpClient, McpServer, text_of, values
from tests.support.peer import modern_meta
from tests.support.schemas import LEGACY

BETRAYALS = (*LEAKS, "line 1 column", "sys.")


def ping(**changes: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "ping"} | changes


def echo(client: McpClient, arguments: str, request_id: str = "mine") -> bytes:
    """A call of `echo` whose arguments are written by hand."""
    meta = json.dumps(modern_meta() if client.modern else {})
    params = f'{{"name":"fixture_echo","arguments":{arguments},"_meta":{meta}}}'
    return f'{{"jsonrpc":"2.0","id":"{request_id}","method":"tools/call","params":{params}}}'.encode()


NOT_JSON = [
    b"{bad",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping",}',
    b"\x00",
    b"[" * 100_000,
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400}}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
    b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
]
NO_MESSAGES: list[Any] = [
    *({}, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "result": {}}, [], None, "ping", 5),
    *(ping(id=wrong) for wrong in values(None, 1.5, 1.0, True, {}, [1])),
]


@pytest.mark.requirement("ERR-01", "ERR-02", "ERR-09", "HTTP-08", "MSG-02", "MSG-03", "MSG-04")
async def test_bytes_that_are_no_message_are_refused_without_an_id(client: McpClient) -> None:
    cases = [(raw, -32700) for raw in NOT_JSON] + [(json.dumps(message).encode(), -32600) for message in NO_MESSAGES]
    for raw, code in cases:
        reply = await client.send_raw(raw)
        assert (reply.error["code"], reply.message.get("id")) == (code, None), raw[:80]
        assert reply.status in (None, 400)
        assert "\n" not in reply.error["message"]
        assert not [leak for leak in BETRAYALS if leak in json.dumps(reply.message)], raw[:80]
        assert await client.settle() == []


@pytest.mark.requirement("MSG-09")
async def test_a_malformed_request_with_an_id_gets_its_id_back(client: McpClient) -> None:
    """JSON-RPC 2.0, section 5: a client that gets no id back waits until its own timeout."""
    wrong: list[dict[str, Any]] = [{"jsonrpc": "1.0"}, {"method": None}, {"method": ["ping"]}, {"params": []}]
    for changes in wrong:
        reply = await client.send_raw(json.dumps({**ping(id="mine"), **changes}).encode(), id="mine")
        assert reply.message["id"] in ("mine", None)
        assert reply.error["code"] in {-32600, -32602}, changes
        assert not [leak for leak in BETRAYALS if leak in json.dumps(reply.message)]


@pytest.mark.requirement("SEC-07")
async def test_a_duplicate_member_is_refused(client: McpClient) -> None:
    """RFC 8259 section 4 leaves open which of the two counts, so two programs could see two different requests."""
    for twice in ('"id":2', '"method":"tools/list"', '"params":{}'):
        reply = await client.send_raw(f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{}},{twice}}}'.encode())
        assert reply.error["code"] in {-32600, -32700}
    for arguments in ('{"text":"a","text":"b"}', '{"text":"a: b","x":[{"a":1,"\\u0061":1}]}'):
        assert (await client.send_raw(echo(client, arguments), id="mine")).error["code"] == -32602


@pytest.mark.requirement("MSG-02", "STDIO-01")
async def test_any_text_comes_back_as_it_was_sent(client: McpClient) -> None:
    for text in (
        "naïve, größer, 日本語 🧰 and 👩‍🔧",
        "one\ntwo\r\nthree\u2028four\u2029\x85five",
        '\x00\x01\x1b[31m\x7f"\\/{}[]',
        "",
    ):
        for escaped in (True, False):
            arguments = json.dumps({"text": text}, ensure_ascii=escaped)
            assert (await client.send_raw(echo(client, arguments), id="mine")).text == text


@pytest.mark.requirement("MSG-07")
async def test_an_id_comes_back_as_it_was_sent(client: McpClient) -> None:
    for request_id in (0, -1, 2**53, 2**70, "", "0", "ünïcode", "a" * 1000, 'quo"te'):
        for _ in range(2):  # it may be used again once it is answered
            returned = (await client.request("tools/list", id=request_id)).message["id"]
            assert (returned, type(returned)) == (request_id, type(request_id))


@pytest.mark.requirement("MSG-05", "MSG-07")
async def test_an_id_in_use_is_refused_and_the_first_request_goes_on(legacy: McpClient) -> None:
    for request_id, other in ((7, "7"), ("seven", "Seven"), (0, ""), ("", 0)):  # a number and its text are two ids
        first = await legacy.begin_call("fixture_wait", id=request_id, progress=True)
        await first.next()
        assert (await legacy.request("tools/list", id=request_id)).error["code"] == -32600
        assert "result" in (await legacy.request("tools/list", id=other)).message
        await legacy.call("fixture_release")
        assert await first.text() == "released"


@pytest.mark.requirement("HTTP-07", "MSG-11")
async def test_notifications_get_no_answer_even_malformed_ones_and_those_named_like_requests(client: McpClient) -> None:
    messages: list[dict[str, Any]] = [
        *({"method": f"notifications/{name}"} for name in ("unheard-of", "initialized", "cancelled")),
        {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        *({"method": "notifications/cancelled", "params": {"requestId": value}} for value in values({}, "never-sent")),
        {"method": "tools/call", "params": {"name": "fixture_echo", "arguments": {"text": "x"}}},
        {"method": "initialize", "params": {}},
        {"method": "nonsense"},
    ]
    for message in messages:
        assert await client.send({"jsonrpc": "2.0", **message}) in (None, 202)
    for message in ({"result": {}}, {"error": {"code": -32603, "message": "no such request"}}):
        await client.send({"jsonrpc": "2.0", "id": 99, **message})
    assert await client.settle() == []


@pytest.mark.requirement("TOOL-15")
async def test_exceptions_that_no_tool_should_raise_lose_that_call_only(legacy: McpClient) -> None:
    """Out of a task, SystemExit and KeyboardInterrupt would end the event loop."""
    waiting = await legacy.begin_call("fixture_wait", progress=True)
    await waiting.next()
    for tool in ("burst", "burst_async", "burst_inline"):
        for kind in OUTBURSTS:
            result = await legacy.call(f"hostile_{tool}", kind=kind)
            assert result["isError"] is True, kind
            assert "canary" not in text_of(result)
    assert await legacy.settle() == []
    await legacy.call("fixture_release")
    assert await waiting.text() == "released"


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
    responses = await answer(batching, batch)
    by_id = {response["id"]: response for response in responses if response.get("id") is not None}
    assert set(by_id) == {1, "2", 3, 4, 5, 6, 7}
    assert by_id[1]["result"] == {}
    assert by_id["2"]["result"]["tools"]
    assert by_id[3]["result"]["content"][0]["text"] == "x"
    assert by_id[5]["result"]["isError"] is True
    assert {number: by_id[number]["error"]["code"] for number in (4, 6, 7)} == {4: -32601, 6: INVALID, 7: INVALID}
    assert [response["error"]["code"] for response in responses if response.get("id") is None] == [INVALID] * 4
    assert await batching.settle() == []


async def test_a_call_that_its_own_batch_cancels_keeps_back_no_response(batching: McpClient) -> None:
    batch = [call(1, "fixture_wait"), notification("notifications/cancelled", requestId=1), request(2)]
    assert await answer(batching, batch) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


async def test_an_id_or_a_member_that_is_there_twice_is_refused(batching: McpClient) -> None:
    twice = await answer(batching, [call(1, "fixture_echo", text="x"), request(1)])
    assert [response["id"] for response in twice] == [1, 1]
    assert [response["error"]["code"] for response in twice if "error" in response] == [INVALID]
    raw = b'[{"jsonrpc":"2.0","id":70,"method":"ping"},{"jsonrpc":"2.0","id":71,"id":72,"method":"ping"}]'
    answered: Any = (await batching.send_raw(raw)).message
    assert (
        [response for response in answered if "error" in response] if isinstance(answered, list) else answered["error"]
    )


async def test_a_batch_without_requests_gets_no_response(batching: McpClient) -> None:
    for batch in ([notification()], [notification(), notification("notifications/cancelled", requestId=99)]):
        assert await batching.send(batch) in (None, 202)
    assert await batching.send([notification(), {"jsonrpc": "2.0", "id": 1, "result": {}}]) in (None, 400)
    assert await batching.settle() == []


async def test_a_batch_of_invalid_messages_gets_one_batch_of_errors(batching: McpClient) -> None:
    """JSON-RPC 2.0 section 6. Over HTTP the status is 200, because clients take 404 for the end of the session."""
    for batch in ([1], [{"foo": 1}, None], [[request(1)]]):
        reply: Any = await batching.send_raw(json.dumps(batch).encode())
        assert reply.status in (None, 200)
        assert [response["error"]["code"] for response in reply.message] == [INVALID] * len(batch)


async def test_a_cancelled_request_is_left_out_of_the_response(batching: McpClient) -> None:
    batch = asyncio.create_task(answer(batching, [call("gone", "fixture_wait", label="in a batch"), request("stays")]))
    while not (await asyncio.wait({batch}, timeout=0.1))[0]:  # a cancellation that comes too early is ignored
        await batching.notify("notifications/cancelled", {"requestId": "gone"})
    assert [response["id"] for response in await batch] == ["stays"]


@pytest.mark.requirement("SEC-03")
async def test_a_batch_with_too_many_requests_is_refused_whole(batching: McpClient) -> None:
    for batch in ([], [request(number) for number in range(101)]):
        response = await answer(batching, batch)
        assert (response["error"]["code"], response.get("id")) == (INVALID, None)


@pytest.mark.requirement("MSG-17")
async def test_an_array_is_refused_in_every_other_revision_and_before_the_handshake(server: McpServer) -> None:
    client = {"clientInfo": {"name": "x", "version": "1"}, "capabilities": {}}
    opening = request(1, "initialize", protocolVersion=BATCHES, **client)
    assert (await answer(await server.client(opened=False), [opening]))["error"]["code"] == INVALID
    for revision in (LEGACY[0], *NEWEST):
        other = await server.shared(revision)
        for batch in ([request(1), request(2)], [notification("notifications/unheard-of")], []):
            response = await answer(other, batch)
            assert (response["error"]["code"], response.get("id")) == (INVALID, None)
        assert await other.settle() == []
