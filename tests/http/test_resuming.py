"""Streams of sessions that are lost and asked for again, by their clients and by others (sections 3.1 and 3.2)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, Streaming, call, events, message
from tests.support.pool import ASKING
from tests.support.schemas import LEGACY

pytestmark = pytest.mark.asyncio(loop_scope="session")

NEWEST = LEGACY[-1]


async def opened(asking: Served, revision: str = NEWEST) -> Session:
    session = Session(asking, revision)
    await session.open()
    return session


def log(*texts: str, **arguments: Any) -> dict[str, Any]:
    """A call that says so much on its stream."""
    said = [["notifications/message", {"level": "error", "data": text}] for text in texts]
    return call("asking_tell", {"notifications": said, **arguments})


def said(messages: list[Any]) -> list[Any]:
    return [one["params"]["data"] if "params" in one else one["result"]["content"][0]["text"] for one in messages]


async def rest(streaming: Streaming) -> list[Any]:
    return said([one async for one in streaming.rest()])


async def let_go(session: Session, *streams: Streaming) -> None:
    """Let the calls end that stay, and wait until the last has."""
    await session.post(call("asking_let_go"))


async def refused(session: Session, *last: str) -> tuple[int, int]:
    fields = [*session.fields(("Accept", "text/event-stream")), *(("Last-Event-ID", one) for one in last)]
    answer = await session.served.request("GET", "/mcp", fields)
    told = answer.json if answer.status != 200 else json.loads(*events(answer.body))
    return answer.status, told["error"]["code"]


LOST = (200, -32603)
"""A stream that only says that the response is lost."""


@pytest.mark.requirement("HTTP-27", "SESS-10", "SESS-13")
@pytest.mark.parametrize("revision", LEGACY)
async def test_events_have_ids_of_their_own(asking: Served, revision: str) -> None:
    """Unique in the session; the first is empty, and says when to come back, in 2025-11-25 alone."""
    session = await opened(asking, revision)
    first, second = await session.begin(log("a", "b")), await session.begin(log("c"))
    assert [said([first.first]), await rest(first)] == [["a"], ["b", "told"]]
    assert [said([second.first]), await rest(second)] == [["c"], ["told"]]
    events = first.events + second.events
    assert len({event.id for event in events}) == len(events)
    assert all(event.id for event in events)
    primed = [(event.data, event.retry) for event in (first.events[0], second.events[0])]
    assert primed == [(b"", 1000)] * 2 if revision == NEWEST else all(data and retry is None for data, retry in primed)
    assert not any(not event.data or event.retry for event in first.events[1:])


@pytest.mark.requirement("HTTP-24")
async def test_a_modern_stream_has_no_ids(asking: Served) -> None:
    from tests.support.http_mcp import modern, stream

    streaming = await stream(asking, modern(log("a"), **{"io.modelcontextprotocol/logLevel": "error"}))
    assert await rest(streaming) == ["told"]
    assert all(event.id is None and event.retry is None and event.data for event in streaming.events)


@pytest.mark.requirement("HTTP-19", "SESS-11", "SESS-15")
@pytest.mark.parametrize("revision", LEGACY)
async def test_a_call_goes_on_without_its_client_who_comes_back(asking: Served, revision: str) -> None:
    session = await opened(asking, revision)
    lost = await session.begin(log("a", "b", stay=True))
    lost.abort()
    back = await session.listen(lost.events[-1].id)
    assert said([await back.next()]) == ["b"]
    await let_go(session)
    assert await rest(back) == ["told"]


@pytest.mark.requirement("SESS-11", "SESS-12")
async def test_what_was_given_is_given_again_from_anywhere(asking: Served) -> None:
    session = await opened(asking)
    done = await session.begin(log("a", "b", "c"))
    assert await rest(done) == ["b", "c", "told"]
    texts = ["a", "b", "c", "told"]
    for place, event in enumerate(done.events):
        again = await session.listen(event.id)
        assert await rest(again) == texts[place:]
        assert [one.id for one in again.events] == [one.id for one in done.events[place + 1 :]]


@pytest.mark.requirement("SESS-15")
async def test_the_end_is_kept_of_a_call_whose_client_is_gone(asking: Served) -> None:
    session = await opened(asking)
    lost = await session.begin(log("a", stay=True))
    lost.abort()
    await let_go(session)
    async with asyncio.timeout(5):
        while (found := await rest(await session.listen(lost.events[-1].id))) != ["told"]:
            assert found == []


async def test_whoever_comes_last_reads_on(asking: Served) -> None:
    """A client that thinks its stream is lost need not wait for the server to notice."""
    session = await opened(asking)
    first = await session.begin(log("a", stay=True))
    second = await session.listen(first.events[-1].id)
    assert await first.next() is None
    await let_go(session)
    assert await rest(second) == ["told"]


@pytest.mark.requirement("SESS-16")
async def test_nobody_else_reads_a_stream(asking: Served) -> None:
    """Forged ids, and ids of another session or stream."""
    session, other = await opened(asking), await opened(asking)
    mine = await session.begin(log("mine", stay=True))
    theirs = await other.begin(log("theirs"))
    assert await rest(theirs) == ["told"]
    (foreign, own) = (str(theirs.events[0].id), str(mine.events[0].id))
    stream = own.rpartition(".")[0]
    for unknown in (foreign, f"{stream}x.0", "cNQ~x.0"):
        assert await refused(session, unknown) == LOST
    forged = (
        f"{stream}.99",
        f"{stream}.-1",
        f"{stream}.1e1",
        "cNQ.0",
        "c!~x.0",
        "cbnVsbA~x.0",
        "c.0",
        ".0",
        "0",
        "",
        "\u00b2.1",
    )
    for last in forged:
        assert await refused(session, last.encode().decode("latin-1")) == (400, -32600), last
    assert await refused(session, own, own) == (400, -32600)
    assert await refused(other, own) == LOST
    session_id, session.id = session.id, "unknown"
    assert await refused(session, own) == (404, -32600)
    session.id = session_id
    back = await session.listen(own)
    await let_go(session)
    assert await rest(back) == ["mine", "told"]  # and not a word of anything else


async def test_a_deleted_session_leaves_nothing_to_come_back_for(asking: Served) -> None:
    session = await opened(asking)
    done = await session.begin(log("a"))
    await rest(done)
    running = await session.begin(log("b", stay=True))
    apart = await session.listen()
    assert (await asking.request("DELETE", "/mcp", session.fields())).status == 204
    assert (await running.next())["error"]["code"] == -32600
    assert await running.next() is None
    assert await apart.next() is None
    assert await refused(session, str(done.events[0].id)) == (404, -32600)


async def test_only_so_much_is_kept(asking_site: Path) -> None:
    config = http_config(host=ASKING, more="[plugins.mcp]\nsession_events_bytes = 5000")
    async with Served(asking_site, config) as served:
        session = await opened(served)
        old = await session.begin(log("old"))
        await rest(old)
        long = await session.begin(log(*["x" * 1000] * 6))
        await rest(long)
        assert await refused(session, str(old.events[0].id)) == LOST
        assert await refused(session, str(long.events[0].id)) == LOST  # there would be a gap
        assert len(await rest(await session.listen(long.events[-3].id))) == 2


async def test_nothing_is_kept_where_nothing_shall_be(asking_site: Path) -> None:
    config = http_config(host=ASKING, more="[plugins.mcp]\nevents_bytes = 0")
    async with Served(asking_site, config) as served:
        session = await opened(served)
        streaming = await session.begin(log("a"))
        assert await rest(streaming) == ["told"]
        assert all(event.id is None and event.retry is None and event.data for event in streaming.events)
        assert await refused(session, "c0-x.0") == (400, -32600)


POLLING = "[plugins.mcp]\npoll_after_seconds = 0.05\nretry_ms = 10"


@pytest.mark.requirement("SESS-14")
async def test_a_server_that_ends_streams_early_is_asked_for_the_rest(asking_site: Path) -> None:
    """2025-11-25: a call that takes its time, of which nothing has been heard, and one that has said something."""
    async with Served(asking_site, http_config(host=ASKING, more=POLLING)) as served:
        session = await opened(served)
        for one in (log(stay=True), log("a", stay=True)):
            polled = Streaming(await served.connect(), session.conversation, session.seen)
            await polled.send(one, session.fields())
            texts = await rest(polled)
            assert polled.events[0].retry == 10
            last = polled.events[-1].id
            for _ in range(2):
                again = await session.listen(last)
                assert await rest(again) == []
            back = await session.listen(last)
            await let_go(session)
            while not (found := await rest(back)):
                back = await session.listen(last)
            assert texts + found == [*(["a"] if "a" in texts else []), "told"]


@pytest.mark.requirement("HTTP-20")
async def test_older_revisions_know_no_streams_that_end_early(asking_site: Path) -> None:
    async with Served(asking_site, http_config(host=ASKING, more=POLLING)) as served:
        session, polled = await opened(served, LEGACY[-2]), await opened(served)
        streaming = await session.begin(log("a", stay=True))
        probe = Streaming(await served.connect(), polled.conversation)
        await probe.send(log("b", stay=True), polled.fields())
        assert await rest(probe) == ["b"]  # the time has passed, for the other stream too
        await let_go(session)
        assert await rest(streaming) == ["told"]


async def test_a_question_waits_for_a_client_that_comes_back(asking: Served) -> None:
    session = await opened(asking)
    lost = await session.begin(log("x", stay=True))
    lost.abort()
    one = call("asking_ask", {})
    asked = await session.begin(one)
    asked.abort()
    back = await session.listen(asked.events[0].id)
    question = await back.next()
    assert question["id"] == asked.first["id"]
    result = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
    await session.post({"jsonrpc": "2.0", "id": question["id"], "result": result})
    assert "Paris" in (await rest(back))[0]
    await let_go(session)


async def test_who_never_reads_and_who_comes_back_often_cost_little(asking_site: Path) -> None:
    async with Served(asking_site, http_config("port = 0\nsend_seconds = 0.2", host=ASKING)) as served:
        session = await opened(served)
        await rest(await session.begin(log("x", times=50)))
        before = served.memory()
        for _ in range(20):
            lost = await session.begin(log("a", "x" * 10_000, times=500))
            lost.line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's
        assert (await session.post(message("ping"))).result == {}
        assert served.memory() - before < 60 * 2**20
