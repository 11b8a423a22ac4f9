"""Calls that ask their client, in a session: requests of the host, their answers, time limits, logs and progress."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.http_mcp import Session
from tests.support.mcp_client import HttpClient, McpClient, McpServer, Pending, values
from tests.support.schemas import LEGACY, MODERN

RESULT = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
GROUP = "asking"


async def opened(server: McpServer, revision: str = LEGACY[-1]) -> McpClient:
    """A session of the test's own."""
    return await server.client(revision, {"sampling": {}})  # type: ignore[no-any-return]


async def asks(client: McpClient, **arguments: Any) -> tuple[Pending, Any]:
    """Begin a call that asks, and return its first question."""
    call = await client.begin_call("asking_ask", **arguments)
    return call, await call.next()


async def outcome(call: Pending) -> Any:
    return json.loads(await call.text())


@pytest.mark.requirement("ASK-09", "HTTP-09", "HTTP-12", "HTTP-14", "HTTP-27", "UTIL-07")
async def test_a_call_asks_on_its_own_stream_and_only_its_client_answers(server: McpServer) -> None:
    client, other = await opened(server), await opened(server)
    call, question = await asks(client)
    theirs, their_question = await asks(other)
    assert (question["method"], type(question["id"])) == ("sampling/createMessage", int)
    assert await client.text("fixture_echo", text="x") == "x"  # other calls go on
    for wrong in (str(question["id"]), question["id"] + 1000, float(question["id"]), None, True, [1]):
        await client.respond(wrong, result={"model": "forged"})
    if their_question["id"] != question["id"]:
        await other.respond(question["id"], result={"model": "forged"})
    if isinstance(client, HttpClient):
        foreign = Session(client.served)
        foreign.id = "unknown"
        forged = {"jsonrpc": "2.0", "id": question["id"], "result": {"model": "forged"}}
        assert (await foreign.post(forged)).status == 404
        modern = [("MCP-Protocol-Version", MODERN[-1]), ("Mcp-Session-Id", client.session.id)]
        assert (await client.session.post(forged, *modern)).status == 400
    assert await client.respond(question, result=RESULT) in (None, 202)
    await client.respond(question, result={"model": "too late"})
    assert await outcome(call) == {"answers": [{"result": RESULT, "heard": []}]}
    await other.respond(their_question, result=RESULT)
    assert (await outcome(theirs))["answers"][0]["result"] == RESULT
    assert await client.settle() == []


@pytest.mark.requirement("MSG-06", "SEC-03")
async def test_many_questions_are_answered_in_any_order_up_to_a_limit(server: McpServer) -> None:
    client = await opened(server)
    call, first = await asks(client, many=101)
    questions = [first, *[await call.next() for _ in range(99)]]
    assert len({question["id"] for question in questions}) == 100
    for place in range(99, -1, -1):
        await client.respond(questions[place], result={**RESULT, "model": str(place)})
    answers = (await outcome(call))["answers"]
    assert sorted(int(answer["result"]["model"]) for answer in answers if "result" in answer) == list(range(100))
    assert [answer["error"][0] for answer in answers if "error" in answer] == ["ClientError"]


@pytest.mark.requirement("ERA-23", "ERA-24", "ERA-25", "UTIL-07", "UTIL-15")
async def test_progress_of_the_client_is_heard_and_extends_the_time_limit_up_to_a_total(server: McpServer) -> None:
    client = await opened(server)
    for limits in ({}, {"timeout": 0.05}, {"timeout": 1000, "reset_on_progress": True, "max_total": 0.3}):
        params = {"name": "asking_ask", "arguments": {"progress": True, **limits}}
        call = await client.begin("tools/call", params)
        question = await call.next()
        token = question["params"]["_meta"]["progressToken"]
        reports: list[Any] = [
            {"progressToken": token, "progress": 1, "total": 3, "message": "reading"},
            {"progressToken": token, "progress": 1},  # does not increase
            *({"progressToken": token, "progress": "2"}, {"progressToken": str(token), "progress": 2}),
            *({"progressToken": token}, {"progress": 5}, []),
            {"progressToken": token, "progress": 2.5, "total": "many", "message": 5},
        ]
        for report in reports:
            await client.notify("notifications/progress", report)
        if not limits:
            await client.respond(question, result=RESULT)
            assert (await outcome(call))["answers"][0]["heard"] == [[1, 3, "reading"], [2.5, None, None]]
            continue
        notice = await call.next()
        assert (notice["method"], notice["params"]["requestId"]) == ("notifications/cancelled", question["id"])
        assert (await outcome(call))["answers"][0]["error"][0] == "ClientTimeoutError"
        await client.respond(question, result=RESULT)  # it is too late
    assert await client.settle() == []


@pytest.mark.requirement("HTTP-13", "STDIO-04")
async def test_clients_that_cannot_be_asked_are_not(server: McpServer) -> None:
    """Of 2026-07-28; over HTTP also one that accepts no stream, and a batch."""
    client = await opened(server)

    async def reach(**more: Any) -> str:
        params = {"name": "asking_reach", "arguments": {}, **more}
        return (await client.request("tools/call", params, modern=bool(more))).text

    assert await reach() == '{"notify":true,"ask":true}'
    assert await reach(_meta={}) == '{"notify":false,"ask":false}'
    assert await reach(_meta={LOG_LEVEL: "info"}) == '{"notify":true,"ask":false}'
    if isinstance(client, HttpClient):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "asking_reach"}}
        done = await client.session.post(call, ("Accept", "application/json"))
        assert done.result["content"][0]["text"] == '{"notify":false,"ask":false}'
        batches = await opened(server, "2025-03-26")
        (answered,) = (await batches.send_raw(json.dumps([call]).encode())).message
        assert answered["result"]["content"][0]["text"] == '{"notify":false,"ask":false}'  # type: ignore[index]


LEVELS = ("debug", "info", "error", "alert")
LOGS = [["notifications/message", {"level": level, "data": level}] for level in LEVELS]


async def notice_data(client: McpClient, *notifications: Any, modern: bool = False, **meta: Any) -> list[Any]:
    params = {"name": "asking_tell", "arguments": {"notifications": list(notifications)}, "_meta": meta}
    reply = await client.request("tools/call", params, modern=modern)
    assert reply.text == "told"
    return [notice["params"].get("data", notice["method"]) for notice in reply.told]


@pytest.mark.requirement("UTIL-17", "UTIL-18", "UTIL-19", "UTIL-20", "UTIL-23")
async def test_logs_follow_the_level_of_the_session_or_of_the_request(server: McpServer) -> None:
    client, other = await opened(server), await opened(server)
    assert await notice_data(client, *LOGS) == ["info", "error", "alert"]
    for level, expected in (("debug", [*LEVELS]), ("alert", ["alert"])):
        assert await client.result("logging/setLevel", {"level": level}) == {}
        assert await notice_data(client, *LOGS) == expected
    assert await notice_data(other, *LOGS) == ["info", "error", "alert"]
    for wrong in values("loud", None, 5, [], "DEBUG"):
        assert (await client.error("logging/setLevel", {"level": wrong}))["code"] == -32602
    assert await notice_data(client, *LOGS) == ["alert"]
    assert await notice_data(client, *LOGS, ["notifications/tools/list_changed", {}], modern=True) == []
    assert await notice_data(client, *LOGS, modern=True, **{LOG_LEVEL: "error"}) == ["error", "alert"]


@pytest.mark.requirement("UTIL-14", "UTIL-22")
async def test_a_flood_of_logs_is_thinned_out(server: McpServer) -> None:
    flood = [["notifications/message", {"level": "info", "data": "x" * 1000}]] * 3000
    assert 100 < len(await notice_data(await opened(server), *flood)) < 1200
