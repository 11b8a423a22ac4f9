"""Streams of sessions: their events, GET streams for changes, and resuming a stream that was lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, Streaming, ask, call, events, message, modern, opened, stream
from tests.support.peer import WAIT
from tests.support.pool import ASKING
from tests.support.schemas import LEGACY

NEWEST = LEGACY[-1]
TOOLS, RESOURCES, PROMPTS = (f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts"))


def config(more: str, http: str = "port = 0") -> str:
    return http_config(http, host=ASKING, more=f"[plugins.mcp]\n{more}" if more else "")


def log(*texts: str, **arguments: Any) -> dict[str, Any]:
    """A call that logs these texts."""
    notifications = [["notifications/message", {"level": "error", "data": text}] for text in texts]
    return call("asking_tell", {"notifications": notifications, **arguments})


def texts_of(messages: list[Any]) -> list[Any]:
    return [item["params"]["data"] if "params" in item else item["result"]["content"][0]["text"] for item in messages]


async def rest(streaming: Streaming) -> list[Any]:
    return texts_of([received async for received in streaming.rest()])


async def let_go(session: Session) -> None:
    """Let the calls end that stay."""
    await session.post(call("asking_let_go"))


async def change(served: Served, *what: str) -> None:
    """Change lists and resources, by a call that belongs to no session."""
    assert (await ask(served, call("asking_change", {"what": list(what)}))).result["isError"] is False


async def next_changes(streaming: Streaming, many: int = 1) -> list[str]:
    notices = [await streaming.next() for _ in range(many)]
    return [notice["params"].get("uri", notice["method"]) for notice in notices]


LOST = (200, -32603)
"""A stream that only says that there is no response."""


async def refused(session: Session, *last: str) -> tuple[int, int]:
    fields = [*session.fields(("Accept", "text/event-stream")), *(("Last-Event-ID", event_id) for event_id in last)]
    answer = await session.served.request("GET", "/mcp", fields)
    body = answer.json if answer.status != 200 else json.loads(*events(answer.body))
    return answer.status, body["error"]["code"]


@pytest.mark.requirement("HTTP-19", "HTTP-24", "HTTP-27", "SESS-10", "SESS-11", "SESS-12", "SESS-13", "SESS-15")
@pytest.mark.parametrize("revision", LEGACY[-2:])
async def test_events_have_unique_ids_from_which_a_stream_is_resumed(asking: Served, revision: str) -> None:
    """In 2025-11-25 the first event is empty, and says when to come back. Modern streams have neither."""
    session = await opened(asking, revision)
    first, second = await session.begin(log("a", "b", "c")), await session.begin(log("d"))
    assert [texts_of([first.first]), await rest(first)] == [["a"], ["b", "c", "told"]]
    assert [texts_of([second.first]), await rest(second)] == [["d"], ["told"]]
    everything = first.events + second.events
    assert len({event.id for event in everything} - {None, ""}) == len(everything)
    primed = [(event.data, event.retry) for event in (first.events[0], second.events[0])]
    assert primed == [(b"", 1000)] * 2 if revision == NEWEST else all(data and retry is None for data, retry in primed)
    assert not any(not event.data or event.retry for event in first.events[1:])
    texts = ["a", "b", "c", "told"][0 if revision == NEWEST else 1 :]
    for place, event in enumerate(first.events):
        again = await session.listen(event.id)
        assert await rest(again) == texts[place:]
        assert [event.id for event in again.events] == [event.id for event in first.events[place + 1 :]]
    lost = await session.begin(log("a", "b", stay=True))
    lost.abort()  # the call goes on without its client
    back = await session.listen(lost.events[-1].id)
    assert texts_of([await back.next()]) == ["b"]
    last = await session.listen(back.events[-1].id)  # a client need not wait for the server to notice a loss
    assert await back.next() is None
    await let_go(session)
    assert await rest(last) == ["told"]
    streaming = await stream(asking, modern(log("a"), **{"io.modelcontextprotocol/logLevel": "error"}))
    assert await rest(streaming) == ["told"]
    assert all(event.id is None and event.retry is None and event.data for event in streaming.events)


@pytest.mark.parametrize(
    ("tool", "advice"), [("asking_tell", "The outcome is unknown: "), ("asking_say", "Call again: ")]
)
async def test_the_stream_of_a_cancelled_call_ends_with_an_error_that_names_the_reason(
    asking: Served, tool: str, advice: str
) -> None:
    """The repetition of a call that may have had effects is not advised."""
    session = await opened(asking)
    request = log("a", stay=True)
    request["params"]["name"] = tool
    gone = await session.begin({**request, "id": "gone"})
    await session.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}})
    assert [received async for received in gone.rest()] == []
    back = await session.listen(gone.events[-1].id)
    [error] = [received["error"]["message"] async for received in back.rest()]
    assert error.startswith("There is no response: the call was cancelled, ")
    assert f" stored. {advice}" in error


@pytest.mark.requirement("SESS-16")
async def test_forged_ids_and_ids_of_other_sessions_resume_nothing(asking: Served) -> None:
    session, other = await opened(asking), await opened(asking)
    mine, theirs = await session.begin(log("mine", stay=True)), await other.begin(log("theirs"))
    assert await rest(theirs) == ["told"]
    foreign, own = str(theirs.events[0].id), str(mine.events[0].id)
    name = own.rpartition(".")[0]
    for unknown in (foreign, f"{name}x.0", "cNQ~x.0"):
        assert await refused(session, unknown) == LOST
    for last in (*(name + end for end in (".99", ".-1", ".1e1")), "cNQ.0", "c!~x.0", ".0", "0", "", "\u00b2.1"):
        assert await refused(session, last.encode().decode("latin-1")) == (400, -32600), last
    assert await refused(session, own, own) == (400, -32600)
    assert await refused(other, own) == LOST
    session_id, session.id = session.id, "unknown"
    assert await refused(session, own) == (404, -32600)
    session.id = session_id
    back = await session.listen(own)
    await let_go(session)
    assert await rest(back) == ["mine", "told"]  # and nothing of another stream


async def test_a_deleted_session_ends_its_streams_and_cannot_be_resumed(asking: Served) -> None:
    session = await opened(asking)
    done = await session.begin(log("a"))
    await rest(done)
    running, apart = await session.begin(log("b", stay=True)), await session.listen()
    question = await session.begin(call("asking_ask", {"label": "deleted"}))
    assert (await asking.request("DELETE", "/mcp", session.fields())).status == 204
    assert (await question.next())["method"] == "notifications/cancelled"
    for streaming in (running, question):
        assert (await streaming.next())["error"]["code"] == -32600
        assert await streaming.next() is None
    assert await apart.next() is None
    assert await refused(session, str(done.events[0].id)) == (404, -32600)
    async with asyncio.timeout(WAIT):
        while "deleted" not in (await ask(asking, call("asking_ended"))).result["content"][0]["text"]:
            pass


@pytest.mark.requirement("LISTEN-13", "SEC-03")
async def test_events_and_listening_sessions_have_a_limit(asking_site: Path) -> None:
    async with Served(asking_site, config("session_events_bytes = 1500\nmax_listening = 2")) as served:
        session = await opened(served)
        old = await session.begin(log("old"))
        await rest(old)
        long = await session.begin(log(*["x" * 300] * 6))
        await rest(long)
        assert await refused(session, str(old.events[0].id)) == LOST
        assert await refused(session, str(long.events[0].id)) == LOST  # there would be a gap
        assert len(await rest(await session.listen(long.events[-3].id))) == 2
        await session.listen()
        other, third = await opened(served), await opened(served)
        await other.listen()
        answer = await served.request("GET", "/mcp", third.fields(("Accept", "text/event-stream")))
        assert (answer.status, answer.json["error"]["code"]) == (503, -32603)
        assert answer.get("Retry-After")
        await session.listen()  # a session with a stream may have another
    async with Served(asking_site, config("events_bytes = 0")) as served:
        session = await opened(served)
        streaming = await session.begin(log("a"))
        assert await rest(streaming) == ["told"]
        assert all(event.id is None and event.retry is None and event.data for event in streaming.events)
        assert await refused(session, "c0-x.0") == (400, -32600)


@pytest.mark.requirement("HTTP-20", "SESS-14")
async def test_a_server_may_end_streams_of_calls_early_in_the_newest_revision(asking_site: Path) -> None:
    async with Served(asking_site, config("poll_after_seconds = 0.05\nretry_ms = 10")) as served:
        session, older = await opened(served), await opened(served, LEGACY[-2])
        whole, apart = await older.begin(log("a", stay=True)), await session.listen()
        polled = Streaming(await served.connect(), session.conversation, session.seen)
        await polled.send(log("a", stay=True), session.fields())
        texts = await rest(polled)  # the time has passed, for the other streams too
        assert polled.events[0].retry == 10
        last = polled.events[-1].id
        assert await rest(await session.listen(last)) == []
        back = await session.listen(last)
        await let_go(session)
        while not (more := await rest(back)):
            back = await session.listen(last)
        assert texts + more == ["a", "told"]
        assert await rest(whole) == ["told"]
        await change(served, "tools")
        assert await next_changes(apart) == [TOOLS]


@pytest.mark.requirement("SESS-09")
async def test_a_change_is_told_on_the_latest_of_few_streams(asking: Served) -> None:
    session = await opened(asking)
    streams = [await session.listen() for _ in range(5)]
    assert await streams[0].next() is None
    first, second = streams[-2:]
    await change(asking, "tools")
    assert await next_changes(second) == [TOOLS]
    second.abort()
    async with asyncio.timeout(WAIT):
        waiting = asyncio.create_task(next_changes(first))
        while not waiting.done():
            await change(asking, "prompts")
            await asyncio.wait((waiting,), timeout=0.1)
    assert await waiting == [PROMPTS]


@pytest.mark.requirement("LISTEN-03", "LISTEN-13")
async def test_subscriptions_are_streams_kept_alive_that_tell_slow_readers_each_change_once(asking_site: Path) -> None:
    uris = [f"x://{number}/{'x' * 1000}" for number in range(1000)]
    listen = message("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}}, id=7)
    async with Served(asking_site, config("", "port = 0\nstream_ping_seconds = 0.1")) as served:
        assert (await ask(served, listen, Accept="application/json")).status == 406
        streams = [await stream(served, listen) for _ in range(2)]  # of one id, on two connections
        assert await streams[0].line.chunk() == b": ping\n\n"
        streams[0].line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's
        await change(served, *uris)
        before = served.memory()
        for _ in range(10):
            await change(served, *uris)
        assert served.memory() - before < 16 * 2**20
        assert await next_changes(streams[1]) == [uris[0]]
        assert all(event.id is None and event.retry is None for event in streams[1].events)
