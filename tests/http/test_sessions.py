"""Sessions over HTTP, in every revision that has them: calls, batches, cancelling, ends and limits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import OPEN_MCP, Answer, Line, Served, http_config
from tests.support.http_mcp import JSON_FIELDS, Exchanged, Session, Streaming, call, exchange, message, mirrored, modern
from tests.support.peer import modern_meta
from tests.support.schemas import LEGACY

pytestmark = pytest.mark.asyncio(loop_scope="session")

BATCHES = "2025-03-26"


def cancelling(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


async def cancelled(session: Session) -> str:
    text: str = (await session.post(call("fixture_cancelled"))).result["content"][0]["text"]
    return text


async def cancelled_until_answered(session: Session, request_id: Any, line: Line) -> Answer:
    """Cancel a request that nobody sees begin, until it is answered; before it has begun there is nothing to cancel."""
    answer = asyncio.create_task(line.answer())
    while not answer.done():
        assert (await session.post(cancelling(request_id))).status == 202
    return await answer


@pytest.mark.requirement("UTIL-24")
async def test_a_session_of_every_revision(session: Session) -> None:
    assert (await session.post(message("ping"))).result == {}
    assert (await session.post(call("fixture_echo", {"text": "x"}))).result["content"][0]["text"] == "x"
    assert (await session.post(message("tools/list"))).result["tools"]
    assert (await session.post(message("resources/read", {"uri": "fixture://text"}))).result["contents"]
    assert (await session.post(message("prompts/get", {"name": "fixture_review"}))).result["messages"]


@pytest.mark.requirement("HTTP-07")
async def test_notifications_and_responses_are_taken(session: Session) -> None:
    for one in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/unheard/of", "params": {"x": 1}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ):
        done = await session.post(one)
        assert (done.status, done.answer.body, done.answer.get("Content-Type")) == (202, b"", None)


@pytest.mark.requirement("RES-02", "UTIL-09")
async def test_an_error_in_a_session_is_an_answer(session: Session) -> None:
    """clients.md 6: any other status ends the session for some clients."""
    assert (await session.post(message("nonsense"))).refused == (200, -32601)
    assert (await session.post(message("server/discover"))).refused == (200, -32601)
    assert (await session.post(call("fixture_unknown"))).refused == (200, -32602)
    assert (await session.post(message("tools/list", []))).refused == (200, -32602)
    assert (await session.post(message("resources/read", {"uri": "x://y"}))).refused == (200, -32002)
    assert (await session.post(message("tools/call", {"_meta": {"progressToken": 1.5}}))).refused == (200, -32602)


@pytest.mark.requirement("HEAD-05")
async def test_the_header_of_the_revision_may_be_missing_or_another_of_the_era(session: Session) -> None:
    """Section 1.4: served by the session's own revision all the same."""
    for header in LEGACY:
        done = await session.post(message("tools/list"), ("MCP-Protocol-Version", header))
        assert done.status == 200
    async with await session.served.connect() as line:
        fields = [*JSON_FIELDS, ("Mcp-Session-Id", session.id)]
        assert (await exchange(line, b'{"jsonrpc":"2.0","id":"a","method":"ping"}', fields)).status == 200


@pytest.mark.requirement("SESS-03", "SESS-04")
async def test_unknown_and_missing_sessions(session: Session) -> None:
    """404 for the one, 400 for the other (trap 30)."""
    for name in ("unknown", session.id + "x", session.id.swapcase(), ""):
        assert (await session.post(message("ping"), ("Mcp-Session-Id", name))).refused == (404, -32600)
    session.id = ""
    assert (await session.post(message("ping"))).refused == (400, -32600)


@pytest.mark.requirement("SEC-03")
async def test_a_session_runs_so_many_calls_at_once(fixture_site: Path) -> None:
    """In a session calls go on when their client is gone."""
    async with Served(fixture_site, http_config("port = 0\nloopback_is_operator = true")) as served:
        mine, other = Session(served, "2025-03-26"), Session(served)
        await mine.open()
        await other.open()
        lines = [await served.connect() for _ in range(10)]
        for batch, line in enumerate(lines):
            waiting = [call("fixture_wait", id=f"{batch}-{number}") for number in range(100)]
            await line.ask("POST", "/mcp", mine.fields(), json.dumps(waiting).encode())
        async with asyncio.timeout(20):
            while "error" not in (answer := (await mine.post(call("fixture_echo", {"text": "x"}))).last):
                pass
        assert answer["error"]["code"] == -32603
        assert "1000 requests are in flight" in answer["error"]["message"]
        await other.post(call("fixture_release"))
        async with asyncio.timeout(20):
            while "result" not in (await mine.post(call("fixture_echo", {"text": "x"}))).last:
                pass


@pytest.mark.requirement("HTTP-15")
async def test_progress_turns_the_answer_into_a_stream(session: Session) -> None:
    done = await session.post(call("fixture_count", {"say": "on"}, token="p"))
    assert done.streamed
    assert [one["params"]["progress"] for one in done.messages[:-1]] == [1, 2, 3]
    assert ("message" in done.messages[0]["params"]) == (session.revision > "2024-11-05")
    assert done.answer.get("Cache-Control") == "no-cache, no-transform"
    assert done.answer.get("X-Accel-Buffering") == "no"
    assert not (await session.post(call("fixture_count"))).streamed
    assert not (await session.post(call("fixture_echo", {"text": "x"}, token="p"))).streamed


@pytest.mark.requirement("UTIL-02")
async def test_cancelling_a_request(session: Session) -> None:
    label = f"cancel-{session.revision}"
    streaming = await session.begin(call("fixture_wait", {"label": label}, token="p", id=label))
    assert (await session.post(cancelling(label))).status == 202
    assert await streaming.next() is None  # the stream ends, without a response
    assert label in await cancelled(session)


@pytest.mark.requirement("UTIL-02")
async def test_a_cancelled_request_that_goes_on_says_nothing_more(served: Served) -> None:
    session = Session(served)
    await session.open()
    streaming = await session.begin(call("fixture_stubborn", {"label": "deaf"}, token="p", id=5))
    await session.post(cancelling(5))
    assert await streaming.next() is None
    assert (await session.post(message("ping", id=5))).status == 200  # the id is free again


@pytest.mark.requirement("UTIL-02")
async def test_cancelling_what_is_still_silent(served: Served) -> None:
    """The answer is still awaited as JSON: it becomes 202, as nothing may be sent for it any more."""
    session = Session(served)
    await session.open()
    async with await served.connect() as line:
        one = call("fixture_wait", {"label": "silent"}, id=8)
        await line.ask("POST", "/mcp", session.fields(), json.dumps(one).encode())
        answer = await cancelled_until_answered(session, 8, line)
        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.requirement("UTIL-01")
async def test_cancelling_somebody_else_s_request(served: Served) -> None:
    mine, other = Session(served), Session(served)
    await mine.open()
    await other.open()
    streaming = await mine.begin(call("fixture_wait", {"label": "mine"}, token="p", id=6))
    for request_id in (6, "6", 6.0, True, None, [6]):
        assert (await other.post(cancelling(request_id))).status == 202
    for request_id in ("6", 6.0, True, None, [6]):
        assert (await mine.post(cancelling(request_id))).status == 202
    await mine.post(call("fixture_release"))
    assert (await streaming.next())["result"]["content"][0]["text"] == "released"


@pytest.mark.requirement("MSG-05")
async def test_the_same_id_twice_in_flight(served: Served) -> None:
    """A-14."""
    session = Session(served)
    await session.open()
    streaming = await session.begin(call("fixture_wait", token="p", id=9))
    again = await session.served.request(
        "POST", "/mcp", session.fields(), json.dumps(call("fixture_echo", {"text": "x"}, id=9)).encode()
    )
    assert (again.status, again.json["error"]["code"]) == (200, -32600)
    await session.post(call("fixture_release"))
    assert (await streaming.next())["id"] == 9


@pytest.mark.requirement("HTTP-19")
async def test_a_client_that_goes_away_cancels_nothing(served: Served) -> None:
    """Section 3.1: in a session the end of a connection is not the end of a call, neither of JSON nor of a stream."""
    session = Session(served)
    await session.open()
    streaming = await session.begin(call("fixture_wait", {"label": "left-stream"}, token="p", id="s"))
    silent = await served.connect()
    one = call("fixture_wait", {"label": "left-json"}, id="j")
    await silent.ask("POST", "/mcp", session.fields(), json.dumps(one).encode())
    streaming.abort()
    silent.abort()
    busy = call("fixture_echo", {"text": "x"}, id="s")
    line = await served.connect()
    for _ in range(20):  # round trips, in which the server notices that the others are gone
        answer = await line.request("POST", "/mcp", session.fields(), json.dumps(busy).encode())
        assert answer.json["error"]["code"] == -32600
    gone = await cancelled(session)
    assert "left-stream" not in gone
    assert "left-json" not in gone
    await session.post(call("fixture_release"))
    await session.post(call("fixture_release"))


# --- batches


@pytest.mark.requirement("MSG-15", "MSG-16")
async def test_a_batch(served: Served) -> None:
    session = Session(served, BATCHES)
    await session.open()
    batch = [
        call("fixture_echo", {"text": "a"}, id="a"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        message("ping", id="b"),
        message("nonsense", id="c"),
        call("fixture_count", token="p", id="d"),
        5,
        message("initialize", {}, id="e"),
        {**message("tools/list", {"_meta": modern_meta()}), "id": "f"},
    ]
    body = json.dumps(batch).encode()
    answer = await served.request("POST", "/mcp", session.fields(), body)
    assert answer.status == 200
    by_id = {one.get("id"): one for one in answer.json}
    assert set(by_id) == {"a", "b", "c", "d", "e", "f", None}
    assert by_id["a"]["result"]["content"][0]["text"] == "a"
    assert by_id["d"]["result"]["content"][0]["text"] == "counted"
    assert {key: by_id[key]["error"]["code"] for key in ("c", "e", "f", None)} == {
        "c": -32601,
        "e": -32600,
        "f": -32600,
        None: -32600,
    }


@pytest.mark.requirement("SEC-03")
async def test_a_batch_that_asks_nothing(served: Served) -> None:
    session = Session(served, BATCHES)
    await session.open()
    quiet = [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    assert (await session.post(quiet)).status == 202
    assert (await session.post([*quiet, {"jsonrpc": "2.0", "id": 1, "result": {}}])).status == 404
    assert (await session.post([])).refused == (400, -32600)
    assert (await session.post([message("ping")] * 101)).refused == (400, -32600)


@pytest.mark.requirement("MSG-17")
@pytest.mark.parametrize("revision", [one for one in LEGACY if one != BATCHES])
async def test_other_revisions_have_no_batches(served: Served, revision: str) -> None:
    """A-4, trap 28."""
    session = Session(served, revision)
    await session.open()
    assert (await session.post([message("ping")])).refused == (400, -32600)
    other = Session(served, BATCHES)
    await other.open()
    assert (await other.post([message("ping")], ("MCP-Protocol-Version", "2026-07-28"))).refused == (400, -32600)


async def test_a_call_of_a_batch_is_cancelled(served: Served) -> None:
    session = Session(served, BATCHES)
    await session.open()
    async with await served.connect() as line:
        batch = [call("fixture_wait", {"label": "batched"}, id="w"), message("ping", id="p")]
        await line.ask("POST", "/mcp", session.fields(), json.dumps(batch).encode())
        answer = await cancelled_until_answered(session, "w", line)
        assert [one["id"] for one in answer.json] == ["p"]


# --- limits


@pytest.mark.requirement("SEC-03")
async def test_too_many_sessions(fixture_site: Path) -> None:
    """F-22."""
    config = http_config(more="[plugins.mcp]\nmax_sessions = 2")
    async with Served(fixture_site, config) as served:
        first, second, third = Session(served), Session(served), Session(served)
        assert (await first.open()).status == 200
        assert (await second.open()).status == 200
        opening = message("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}})
        opening["params"]["clientInfo"] = {"name": "x", "version": "1"}
        refused = await third.post(opening)
        assert refused.refused == (503, -32603)
        assert refused.answer.get("Retry-After")
        await served.request("DELETE", "/mcp", first.fields())
        assert (await third.open()).status == 200


async def open_from(served: Served, address: str) -> tuple[Session, Exchanged]:
    session = Session(served)
    return session, await session.open(**{"X-Forwarded-For": address})


@pytest.mark.requirement("SEC-03")
async def test_too_many_sessions_of_one_caller(fixture_site: Path) -> None:
    """Callers whom nobody knows are told apart by their addresses; the operator is not limited."""
    http = 'port = 0\ntrusted_proxies = ["127.0.0.1"]'
    async with Served(fixture_site, http_config(http, more=f"{OPEN_MCP}max_sessions_per_caller = 2")) as served:
        first, opened = await open_from(served, "203.0.113.9")
        assert opened.status == 200
        assert (await open_from(served, "203.0.113.9"))[1].status == 200
        refused = (await open_from(served, "203.0.113.9"))[1]
        assert refused.refused == (429, -32603)
        assert "max_sessions_per_caller" in refused.last["error"]["message"]
        assert refused.answer.get("Retry-After") == "60"
        assert (await open_from(served, "203.0.113.10"))[1].status == 200
        assert (await first.post(message("ping"), ("X-Forwarded-For", "203.0.113.9"))).status == 200
        fields = [*first.fields(), ("X-Forwarded-For", "203.0.113.9")]
        assert (await served.request("DELETE", "/mcp", fields)).status == 204
        assert (await open_from(served, "203.0.113.9"))[1].status == 200
        for _ in range(3):
            assert (await Session(served).open(Authorization=served.proof[1])).status == 200


@pytest.mark.requirement("SESS-04")
async def test_an_idle_session_is_forgotten_and_a_busy_one_is_not(fixture_site: Path) -> None:
    config = http_config("port = 0\nstream_ping_seconds = 0.1", more="[plugins.mcp]\nsession_idle_seconds = 0.25")
    async with Served(fixture_site, config) as served:
        idle, busy = Session(served), Session(served)
        await busy.open()
        await idle.open()
        streaming = await busy.begin(call("fixture_wait", token="p"))
        for _ in range(4):
            assert await streaming.line.chunk() == b": ping\n\n"  # the server's clock, by which idle time passes
        assert (await idle.post(message("ping"))).status == 404
        await busy.post(message("ping"))
        for _ in range(4):
            await streaming.line.chunk()
        modern_release = modern(call("fixture_release"))
        async with await served.connect() as line:
            await exchange(line, json.dumps(modern_release).encode(), mirrored(modern_release))
        assert (await streaming.next())["result"]["isError"] is False
        assert (await busy.post(message("ping"))).status == 200  # idle time begins with the end of the call


async def test_a_thousand_sessions_are_small(fixture_site: Path) -> None:
    async with Served(fixture_site) as served:
        one = Session(served)
        await one.open()
        opening = json.dumps(
            message(
                "initialize",
                {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
            )
        ).encode()
        line = await served.connect()
        for _ in range(100):
            assert (await line.request("POST", "/mcp", JSON_FIELDS, opening)).status == 200
        before = served.memory()
        for _ in range(1000):
            await line.request("POST", "/mcp", JSON_FIELDS, opening)
        assert served.memory() - before < 4 * 2**20
        assert (await one.post(message("ping"))).status == 200


@pytest.mark.requirement("ERA-21")
async def test_a_modern_request_goes_on_beside_sessions(served: Served) -> None:
    session = Session(served)
    await session.open()
    streaming: Streaming = await session.begin(call("fixture_wait", token="p"))
    one = modern(call("fixture_release"))
    async with await served.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), [*mirrored(one), ("Mcp-Session-Id", session.id)])
        assert done.result["content"][0]["text"] == "done"
    assert (await streaming.next())["result"]["content"][0]["text"] == "released"
