"""Sessions: ids, owners, statuses, requests in flight, limits, and their end."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import OPEN_MCP, Line, Served, http_config
from tests.support.http_mcp import Exchanged, Session, ask, call, message, opened
from tests.support.peer import WAIT

PING = message("ping")


def cancelling(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


async def cancelled(served: Served) -> str:
    text: str = (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]
    return text


@pytest.mark.requirement("SESS-01")
async def test_ids_are_random_and_never_the_client_s(served: Served) -> None:
    """192 random bits: 6 in each of 32 characters."""
    ids = [(await opened(served)).id for _ in range(40)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{32}", session_id) for session_id in ids)
    assert min(len(set(place)) for place in zip(*ids, strict=True)) > 8  # it is 30 of 64 on average
    session = Session(served)
    assert (await session.open(**{"Mcp-Session-Id": "x" * 32})).status == 200
    assert session.id != "x" * 32


@pytest.mark.requirement("SESS-03", "SESS-04")
async def test_an_unknown_session_is_404_and_a_missing_one_400(session: Session) -> None:
    for name in ("unknown", session.id + "x", session.id.swapcase(), ""):
        assert (await session.post(PING, ("Mcp-Session-Id", name))).refused == (404, -32600)
    session.id = ""
    assert (await session.post(PING)).refused == (400, -32600)


@pytest.mark.requirement("ASK-10", "SEC-02")
async def test_a_session_is_for_its_caller_alone(served: Served, session: Session) -> None:
    other = served.proof  # the operator is another caller than an unknown one
    streaming = await session.begin(call("fixture_wait", {"label": "owned"}, token="p", id=1))
    for payload in (PING, cancelling(1), {"jsonrpc": "2.0", "id": 1, "result": {}}):
        assert (await session.post(payload, other)).status == 404
    for more in ((), (("Last-Event-ID", str(streaming.events[0].id)),)):
        fields = [*session.fields(("Accept", "text/event-stream")), *more, other]
        assert (await served.request("GET", "/mcp", fields)).status == 404
    assert (await served.request("DELETE", "/mcp", [*session.fields(), other])).status == 404
    await session.post(call("fixture_release"))
    assert (await streaming.next())["result"]["content"][0]["text"] == "released"


async def in_flight(session: Session, request_id: Any) -> None:
    """Wait until a request has begun: its id is in use then."""
    async with asyncio.timeout(WAIT):
        while "result" in (await session.post(message("ping", id=request_id))).last:
            pass


async def begun(session: Session, line: Line, request: dict[str, Any]) -> None:
    """Send a request that sends nothing, and wait until it has begun."""
    await line.ask("POST", "/mcp", session.fields(), json.dumps(request).encode())
    await in_flight(session, request["id"])


@pytest.mark.requirement("HTTP-19", "UTIL-02")
async def test_a_call_outlives_its_connection_until_it_is_cancelled(served: Served, session: Session) -> None:
    """In a session the end of a connection is not the end of a call. A cancelled JSON response becomes 202."""
    streaming = await session.begin(call("fixture_wait", {"label": "left-stream"}, token="p", id="s"))
    left, silent = await served.connect(), await served.connect()
    await begun(session, left, call("fixture_wait", {"label": "left-json"}, id="j"))
    await begun(session, silent, call("fixture_wait", {"label": "silent"}, id="c"))
    streaming.abort()
    left.abort()
    for _ in range(20):  # round trips, in which the server notices that the others are gone
        assert (await session.post(message("ping", id="s"))).last["error"]["code"] == -32600
    await session.post(cancelling("c"))
    answer = await silent.answer()
    assert (answer.status, answer.body) == (202, b"")
    gone = await cancelled(served)
    assert "silent" in gone
    assert "left" not in gone
    await ask(served, call("fixture_release"))


@pytest.mark.requirement("SESS-05")
async def test_deleting_a_session_cancels_its_calls(served: Served) -> None:
    session = await opened(served)
    streaming = await session.begin(call("fixture_wait", {"label": "deleted"}, token=1))
    silent = await served.connect()
    await begun(session, silent, call("fixture_wait", {"label": "unanswered"}, id="w"))
    assert (await served.request("DELETE", "/mcp", session.fields())).status == 204
    assert (await streaming.next())["error"]["message"] == "The session was deleted."
    assert await streaming.next() is None
    answer = await silent.answer()
    assert (answer.status, answer.json["id"], answer.json["error"]["code"]) == (404, "w", -32600)
    assert "deleted" in await cancelled(served)


@pytest.mark.requirement("SEC-03")
async def test_a_session_has_a_limit_of_calls_in_flight(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config("port = 0\nloopback_is_operator = true")) as served:
        mine, other = await opened(served, "2025-03-26"), await opened(served)
        waiting: list[dict[str, Any]] = []
        for batch in range(10):  # one after the other, so that the last is the last to begin
            waiting = [call("fixture_wait", id=f"{batch}-{number}") for number in range(100)]
            await (await served.connect()).ask("POST", "/mcp", mine.fields(), json.dumps(waiting).encode())
        for request in waiting:
            await in_flight(mine, request["id"])
        answer = (await mine.post(call("fixture_nothing"))).last
        assert answer["error"]["code"] == -32603
        assert "1000 requests are in flight" in answer["error"]["message"]
        await other.post(call("fixture_release"))
        async with asyncio.timeout(WAIT):
            while "result" not in (await mine.post(call("fixture_nothing"))).last:
                pass


@pytest.mark.requirement("SEC-03")
async def test_sessions_are_limited_in_all_and_for_each_caller(fixture_site: Path) -> None:
    """Unknown callers are told apart by their addresses; the operator has no limit of its own."""

    async def open_from(address: int) -> tuple[Session, Exchanged]:
        session = Session(served)
        return session, await session.open(**{"X-Forwarded-For": f"203.0.113.{address}"})

    limits = f"{OPEN_MCP}max_sessions_per_caller = 2\nmax_sessions = 7"
    async with Served(fixture_site, http_config('port = 0\ntrusted_proxies = ["127.0.0.1"]', more=limits)) as served:
        first, done = await open_from(9)
        assert done.status == (await open_from(9))[1].status == (await open_from(10))[1].status == 200
        refused = (await open_from(9))[1]
        assert refused.refused == (429, -32603)
        assert "max_sessions_per_caller" in refused.last["error"]["message"]
        assert refused.answer.get("Retry-After") == "60"
        fields = [*first.fields(), ("X-Forwarded-For", "203.0.113.9")]
        assert (await served.request("DELETE", "/mcp", fields)).status == 204
        assert (await open_from(9))[1].status == 200
        for _ in range(4):
            assert (await Session(served).open(Authorization=served.proof[1])).status == 200
        refused = (await open_from(11))[1]
        assert refused.refused == (503, -32603)
        assert refused.answer.get("Retry-After")


@pytest.mark.requirement("SESS-04")
async def test_an_idle_session_expires_and_one_with_a_call_or_a_stream_does_not(fixture_site: Path) -> None:
    config = http_config("port = 0\nstream_ping_seconds = 0.4", more="[plugins.mcp]\nsession_idle_seconds = 1.5")
    async with Served(fixture_site, config) as served:
        idle, busy, listening = await opened(served), await opened(served), await opened(served)
        stream = await listening.listen()
        streaming = await busy.begin(call("fixture_wait", token="p"))
        for _ in range(5):
            assert await streaming.line.chunk() == b": ping\n\n"  # the server's clock, by which idle time passes
        assert (await idle.post(PING)).status == 404
        assert (await listening.post(PING)).result == {}
        stream.abort()
        await ask(served, call("fixture_release"))
        assert (await streaming.next())["result"]["isError"] is False
        assert (await busy.post(PING)).status == 200  # idle time begins with the end of the call
