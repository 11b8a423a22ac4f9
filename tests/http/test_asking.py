"""Calls that ask their client, over HTTP: on their own stream, answered by POST, of this session and nobody else."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.http import Served
from tests.support.http_mcp import Session, Streaming, ask, call, modern
from tests.support.schemas import LEGACY

pytestmark = pytest.mark.asyncio(loop_scope="session")

RESULT = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}


async def opened(asking: Served, revision: str = LEGACY[-1]) -> Session:
    session = Session(asking, revision, {"sampling": {}})
    await session.open()
    return session


def response(request_id: Any, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, **members}


def asks(**arguments: Any) -> dict[str, Any]:
    return call("asking_ask", arguments)


async def outcome(streaming: Streaming) -> Any:
    return json.loads((await streaming.next())["result"]["content"][0]["text"])


@pytest.mark.requirement("HTTP-12", "HTTP-14", "HTTP-27")
@pytest.mark.parametrize("revision", LEGACY)
async def test_a_call_asks_on_its_own_stream(asking: Served, revision: str) -> None:
    session = await opened(asking, revision)
    streaming = await session.begin(asks())
    assert streaming.first["method"] == "sampling/createMessage"
    assert type(streaming.first["id"]) is int
    done = await session.post(response(streaming.first["id"], result=RESULT))
    assert (done.status, done.answer.body) == (202, b"")
    assert await outcome(streaming) == {"answers": [{"result": RESULT, "heard": []}]}
    assert await streaming.next() is None


@pytest.mark.requirement("MSG-06")
async def test_several_at_once_are_answered_in_any_order(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks(many=3))
    ids = [streaming.first["id"], (await streaming.next())["id"], (await streaming.next())["id"]]
    assert len(set(ids)) == 3
    for place in (2, 0, 1):
        await session.post(response(ids[place], result={**RESULT, "model": str(place)}))
    assert [one["result"]["model"] for one in (await outcome(streaming))["answers"]] == ["0", "1", "2"]


@pytest.mark.requirement("ASK-07")
async def test_the_client_answers_with_an_error(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks())
    error = {"code": -1, "message": "User rejected sampling request", "data": {"by": "user"}}
    await session.post(response(streaming.first["id"], error=error))
    said = ["ClientError", "User rejected sampling request", -1, {"by": "user"}]
    assert (await outcome(streaming))["answers"][0]["error"] == said


@pytest.mark.requirement("ASK-07")
@pytest.mark.parametrize(
    "members",
    [
        {"result": None},
        {"result": []},
        {"result": "Paris"},
        {"result": RESULT, "error": {"code": 1, "message": "both"}},
        {"error": "no"},
        {"error": {"message": "no code"}},
        {"error": {"code": 1.5, "message": "half a code"}},
        {"error": {"code": True, "message": "no number"}},
        {"error": {"code": 1}},
    ],
    ids=repr,
)
async def test_an_answer_that_cannot_be_read_is_a_failure(asking: Served, members: dict[str, Any]) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks())
    assert (await session.post(response(streaming.first["id"], **members))).status == 202
    failed = (await outcome(streaming))["answers"][0]["error"]
    assert failed == ["ClientError", "The client sent an invalid response.", None, None]


@pytest.mark.requirement("ASK-09", "HTTP-09", "HTTP-12")
async def test_foreign_and_unknown_ids_are_ignored(asking: Served) -> None:
    """Neither another session, nor another type of id, nor somebody without a session settles a request."""
    session, other = await opened(asking), await opened(asking)
    theirs = await other.begin(asks())
    streaming = await session.begin(asks())
    request_id = streaming.first["id"]
    for wrong in (str(request_id), float(request_id), request_id + 1, True, [request_id]):
        await session.post(response(wrong, result={"model": "forged"}))
    assert (await other.post(response(request_id, result={"model": "forged"}))).status == 202
    foreign = Session(asking)
    foreign.id = "unknown"
    assert (await foreign.post(response(request_id, result={"model": "forged"}))).status == 404
    stray = modern(call("x"))
    fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Session-Id", session.id)]
    assert (await session.post(response(request_id, result=RESULT, params=stray["params"]), *fields)).status == 400
    await session.post(response(request_id, result=RESULT))
    await session.post(response(request_id, result={"model": "too late"}))
    assert (await outcome(streaming))["answers"][0]["result"] == RESULT
    await other.post(response(theirs.first["id"], result=RESULT))
    assert (await outcome(theirs))["answers"][0]["result"] == RESULT


@pytest.mark.requirement("ERA-23", "ERA-24", "ERA-25", "UTIL-07")
async def test_without_an_answer_in_time_the_client_is_told_to_stop(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks(timeout=0.05))
    told = await streaming.next()
    assert told["method"] == "notifications/cancelled"
    assert told["params"]["requestId"] == streaming.first["id"]
    assert (await outcome(streaming))["answers"][0]["error"][0] == "ClientTimeoutError"
    assert (await session.post(response(streaming.first["id"], result=RESULT))).status == 202


@pytest.mark.requirement("UTIL-07")
async def test_who_asks_may_give_up(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks(cancel_after=0.05, many=2))
    await streaming.next()
    told = {(await streaming.next())["method"], (await streaming.next())["method"]}
    assert told == {"notifications/cancelled"}
    assert await outcome(streaming) == {"cancelled": True}


@pytest.mark.requirement("UTIL-07")
async def test_cancelling_the_call_takes_its_question_back(asking: Served) -> None:
    session = await opened(asking)
    one = asks(label="taken-back")
    streaming = await session.begin(one)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": one["id"]}}
    await session.post(cancel)
    told = await streaming.next()
    assert told["params"]["requestId"] == streaming.first["id"]
    assert await streaming.next() is None  # and no response
    async with asyncio.timeout(5):
        while "taken-back" not in (await session.post(call("asking_ended"))).result["content"][0]["text"]:
            pass


@pytest.mark.requirement("UTIL-15")
async def test_progress_of_the_client_is_heard(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks(progress=True))
    token = streaming.first["params"]["_meta"]["progressToken"]
    reports: tuple[Any, ...] = (
        {"progressToken": token, "progress": 1, "total": 3, "message": "reading"},
        {"progressToken": token, "progress": 1},  # does not increase
        {"progressToken": token, "progress": "2"},
        {"progressToken": str(token), "progress": 2},
        {"progressToken": token + 1, "progress": 2},
        {"progressToken": token},
        {"progress": 5},
        [],
        {"progressToken": token, "progress": 2.5, "total": "many", "message": 5},
    )
    for params in reports:
        await session.post({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    await session.post(response(streaming.first["id"], result=RESULT))
    assert (await outcome(streaming))["answers"][0]["heard"] == [[1, 3, "reading"], [2.5, None, None]]


@pytest.mark.requirement("ERA-23", "ERA-24")
async def test_progress_begins_the_timeout_anew_up_to_a_total(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks(timeout=1000, reset=True, max_total=0.3, progress=True))
    token = streaming.first["params"]["_meta"]["progressToken"]
    step = {"progressToken": token, "progress": 1}
    await session.post({"jsonrpc": "2.0", "method": "notifications/progress", "params": step})
    assert (await streaming.next())["method"] == "notifications/cancelled"
    answer = (await outcome(streaming))["answers"][0]
    assert answer["error"][0] == "ClientTimeoutError"
    assert answer["heard"] == [[1, None, None]]


async def test_no_more_than_so_many_are_open(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks(many=101))
    ids = [streaming.first["id"]] + [(await streaming.next())["id"] for _ in range(99)]
    for request_id in ids:
        await session.post(response(request_id, result=RESULT))
    answers = (await outcome(streaming))["answers"]
    assert [one["error"][0] for one in answers if "error" in one] == ["ClientError"]
    assert sum("result" in one for one in answers) == 100


@pytest.mark.requirement("SESS-05")
async def test_the_end_of_the_session_ends_the_question(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.begin(asks(label="deleted"))
    assert (await asking.request("DELETE", "/mcp", session.fields())).status == 204
    assert (await streaming.next())["method"] == "notifications/cancelled"
    assert (await streaming.next())["error"]["code"] == -32600
    assert await streaming.next() is None
    other = await opened(asking)
    async with asyncio.timeout(5):
        while "deleted" not in (await other.post(call("asking_ended"))).result["content"][0]["text"]:
            pass


@pytest.mark.requirement("HTTP-13")
async def test_who_cannot_be_asked_is_not(asking: Served) -> None:
    """2026-07-28, a client that takes no stream, and a batch."""
    assert (await ask(asking, call("asking_reach"))).result["content"][0]["text"] == '{"notify":false,"ask":false}'
    wants = modern(call("asking_reach"), **{"io.modelcontextprotocol/logLevel": "info"})
    assert (await ask(asking, wants)).result["content"][0]["text"] == '{"notify":true,"ask":false}'
    session = await opened(asking)
    done = await session.post(call("asking_reach"), ("Accept", "application/json"))
    assert done.result["content"][0]["text"] == '{"notify":false,"ask":false}'
    assert (await session.post(call("asking_reach"))).result["content"][0]["text"] == '{"notify":true,"ask":true}'
    batches = await opened(asking, "2025-03-26")
    (answered,) = (await asking.request("POST", "/mcp", batches.fields(), _batch(call("asking_reach")))).json
    assert answered["result"]["content"][0]["text"] == '{"notify":false,"ask":false}'


def _batch(one: dict[str, Any]) -> bytes:
    return json.dumps([one]).encode()


# --- what a call tells


LOGS = [["notifications/message", {"level": level, "data": level}] for level in ("debug", "info", "error", "alert")]


async def told(session: Session, *notifications: Any, token: Any = None) -> list[Any]:
    done = await session.post(call("asking_tell", {"notifications": list(notifications)}, token=token))
    return [one["params"].get("data", one["method"]) for one in done.messages[:-1]]


async def level(session: Session, name: Any) -> Any:
    one = {"jsonrpc": "2.0", "id": f"level {name}", "method": "logging/setLevel", "params": {"level": name}}
    return (await session.post(one)).last


@pytest.mark.requirement("UTIL-19", "UTIL-20")
@pytest.mark.parametrize("revision", LEGACY)
async def test_the_log_goes_by_the_level_of_the_session(asking: Served, revision: str) -> None:
    session, other = await opened(asking, revision), await opened(asking, revision)
    assert await told(session, *LOGS) == ["info", "error", "alert"]
    assert (await level(session, "debug"))["result"] == {}
    assert await told(session, *LOGS) == ["debug", "info", "error", "alert"]
    assert (await level(session, "alert"))["result"] == {}
    assert await told(session, *LOGS) == ["alert"]
    assert await told(other, *LOGS) == ["info", "error", "alert"]
    wrong: Any
    for wrong in ("loud", "", None, 5, [], "DEBUG"):
        assert (await level(session, wrong))["error"]["code"] == -32602
    assert await told(session, *LOGS) == ["alert"]


@pytest.mark.requirement("HTTP-11", "UTIL-17", "UTIL-18", "UTIL-19")
async def test_the_log_goes_by_the_level_of_the_request(asking: Served) -> None:
    """2026-07-28: nothing without it, and on the request's own stream alone."""
    tell = call("asking_tell", {"notifications": [*LOGS, ["notifications/tools/list_changed", {}]]})
    assert not (await ask(asking, tell)).streamed
    key = "io.modelcontextprotocol/logLevel"
    done = await ask(asking, modern(tell, **{key: "error"}))
    assert [one["params"]["data"] for one in done.messages[:-1]] == ["error", "alert"]
    wants_progress = await ask(asking, modern(tell, progressToken="p"))
    assert not wants_progress.streamed
    assert wants_progress.result["content"][0]["text"] == "told"
    wrong: Any
    for wrong in ("loud", None, 5, []):
        assert (await ask(asking, modern(tell, **{key: wrong}))).refused == (400, -32602)


async def test_a_session_is_told_whatever_else(asking: Served) -> None:
    session = await opened(asking)
    progress = ["notifications/progress", {"progress": 1}]
    changed = ["notifications/tools/list_changed", {}]
    assert await told(session, progress, changed) == ["notifications/tools/list_changed"]
    assert await told(session, progress, changed, token="") == [progress[0], changed[0]]


@pytest.mark.requirement("UTIL-14", "UTIL-22")
async def test_a_flood_drops_no_question(asking: Served) -> None:
    """What a slow reader misses is progress and the log, never a request."""
    session = await opened(asking)
    flood = [["notifications/message", {"level": "info", "data": "x" * 1000}]] * 3000
    done = await session.post(call("asking_tell", {"notifications": flood}))
    assert 100 < len(done.messages) < 1200
