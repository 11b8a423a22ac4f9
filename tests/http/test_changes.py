"""Sessions are told of changes on a stream apart from calls: each once, to those alone who are to hear of it."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, Streaming, ask, call, message
from tests.support.pool import ASKING
from tests.support.schemas import LEGACY

pytestmark = pytest.mark.asyncio(loop_scope="session")

LISTS = [f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")]


async def opened(asking: Served, revision: str = LEGACY[-1]) -> Session:
    session = Session(asking, revision)
    await session.open()
    return session


async def change(asking: Served, *what: str) -> None:
    """By a call that belongs to no session."""
    assert (await ask(asking, call("asking_change", {"what": list(what)}))).result["isError"] is False


async def told(streaming: Streaming, many: int = 1) -> list[str]:
    found = [await streaming.next() for _ in range(many)]
    return [one["params"].get("uri", one["method"]) for one in found]


async def marked(session: Session, streaming: Streaming) -> list[str]:
    """What a stream is told until it is told of a mark, which is a change of a resource that this session alone has."""
    mark = f"mark://{session.id}"
    await session.post(message("resources/subscribe", {"uri": mark}))
    await change(session.served, mark)
    found: list[str] = []
    while mark not in found:
        found += await told(streaming)
    await session.post(message("resources/unsubscribe", {"uri": mark}))
    return found[:-1]


@pytest.mark.requirement("LISTEN-10", "LISTEN-11", "SESS-07", "SESS-08")
@pytest.mark.parametrize("revision", LEGACY)
async def test_lists_that_change_and_resources_that_are_subscribed_to(asking: Served, revision: str) -> None:
    session = await opened(asking, revision)
    streaming = await session.listen()
    await change(asking, "tools", "resources", "prompts")
    assert await told(streaming, 3) == LISTS
    assert (await session.post(message("resources/subscribe", {"uri": "x://a"}))).result == {}
    await change(asking, "x://b", "x://a")
    assert await told(streaming) == ["x://a"]
    assert (await session.post(message("resources/unsubscribe", {"uri": "x://a"}))).result == {}
    await change(asking, "x://a", "tools")
    assert await told(streaming) == [LISTS[0]]
    assert streaming.events[0].id is not None


async def test_many_changes_are_told_as_one(asking: Served) -> None:
    session = await opened(asking)
    streaming = await session.listen()
    await change(asking, *["tools", "prompts"] * 500)
    assert await marked(session, streaming) == [LISTS[0], LISTS[2]]


@pytest.mark.requirement("SESS-09")
async def test_a_change_is_told_on_one_stream_alone(asking: Served) -> None:
    """The latest; when its client leaves it, on one that is still there."""
    session = await opened(asking)
    first, second = await session.listen(), await session.listen()
    await change(asking, "tools")
    assert await told(second) == [LISTS[0]]
    second.abort()
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(told(first))
        while not waiting.done():
            await change(asking, "prompts")
            await asyncio.wait((waiting,), timeout=0.1)
    assert await waiting == [LISTS[2]]


async def test_a_session_has_only_so_many_streams(asking: Served) -> None:
    session = await opened(asking)
    streams = [await session.listen() for _ in range(5)]
    assert await streams[0].next() is None
    await change(asking, "tools")
    assert await told(streams[-1]) == [LISTS[0]]


async def test_only_so_many_sessions_are_told(asking_site: Path) -> None:
    async with Served(asking_site, http_config(host=ASKING, more="[plugins.mcp]\nmax_listening = 2")) as served:
        sessions = [await opened(served) for _ in range(3)]
        streams = [await session.listen() for session in sessions[:2]]
        refused = await served.request("GET", "/mcp", sessions[2].fields(("Accept", "text/event-stream")))
        assert (refused.status, refused.json["error"]["code"]) == (503, -32603)
        assert refused.get("Retry-After")
        await sessions[0].listen()  # one that is told already may have another
        await change(served, "tools")
        assert await told(streams[1]) == [LISTS[0]]


async def test_streams_apart_from_calls_are_not_ended_early(asking_site: Path) -> None:
    config = http_config(host=ASKING, more="[plugins.mcp]\npoll_after_seconds = 0.05")
    async with Served(asking_site, config) as served:
        session, probe = await opened(served), await opened(served)
        streaming = await session.listen()
        polled = await probe.begin(call("asking_tell", {"notifications": [[LISTS[1], {}]], "stay": True}))
        assert await polled.next() is None  # the time has passed
        await change(served, "tools")
        assert await told(streaming) == [LISTS[0]]


@pytest.mark.requirement("LISTEN-11", "SESS-07", "SESS-08")
async def test_each_session_hears_of_its_own(asking: Served) -> None:
    one, other = await opened(asking), await opened(asking)
    streams = [await one.listen(), await other.listen()]
    for session, uri in ((one, "x://one"), (other, "x://other")):
        await session.post(message("resources/subscribe", {"uri": uri}))
    await change(asking, "x://one", "x://other", "x://neither")
    assert await told(streams[0]) == ["x://one"]
    assert await told(streams[1]) == ["x://other"]
    assert await marked(one, streams[0]) == []
    assert await marked(other, streams[1]) == []


async def test_what_changed_while_the_stream_was_lost(asking: Served) -> None:
    """It is told to a client that comes back, on the same stream or on another, and once."""
    for resumes in (True, False):
        session = await opened(asking)
        lost = await session.listen()
        await change(asking, "tools")
        await told(lost)
        before = len((await session.post(call("asking_ended"))).messages)
        lost.abort()
        await change(asking, "prompts", "prompts")
        await change(asking, "prompts")
        back = await session.listen(lost.events[-1].id if resumes else None)
        assert before
        assert await marked(session, back) == [LISTS[2]]


async def test_a_stream_whose_events_are_forgotten_begins_anew(asking_site: Path) -> None:
    config = http_config(host=ASKING, more="[plugins.mcp]\nsession_events_bytes = 250")
    async with Served(asking_site, config) as served:
        session = await opened(served)
        lost = await session.listen()
        for kind in ("tools", "prompts", "resources", "tools", "prompts"):
            await change(served, kind)
            await told(lost)
        await session.listen()
        back = await session.listen(lost.events[0].id)
        assert await marked(session, back) == []


async def test_subscribing_asks_for_something_sound(asking: Served) -> None:
    session = await opened(asking)
    for params in ({}, {"uri": None}, {"uri": 5}, {"uri": ""}, {"uri": "x" * 5000}, {"uri": ["x://a"]}):
        for method in ("resources/subscribe", "resources/unsubscribe"):
            assert (await session.post(message(method, params))).refused == (200, -32602)
    for number in range(1000):
        await session.post(message("resources/subscribe", {"uri": f"x://{number}"}))
    assert (await session.post(message("resources/subscribe", {"uri": "x://more"}))).refused == (200, -32602)
    assert (await session.post(message("resources/subscribe", {"uri": "x://7"}))).result == {}
    assert (await session.post(message("resources/unsubscribe", {"uri": "x://unknown"}))).result == {}


async def test_the_end_of_the_server_ends_streams(asking_site: Path) -> None:
    async with Served(asking_site, http_config(host=ASKING)) as served:
        session = await opened(served)
        streams = [await session.listen() for _ in range(3)]
        served.signal(signal.SIGTERM)
        for streaming in streams:
            assert await streaming.next() is None
        assert await served.wait() == 0
        assert "Traceback" not in served.stderr


async def test_a_session_with_a_stream_is_not_idle_and_one_without_is(asking_site: Path) -> None:
    """The server's own clock says when time has passed: it is that of its pings."""
    config = http_config(
        "port = 0\nstream_ping_seconds = 0.1", host=ASKING, more="[plugins.mcp]\nsession_idle_seconds = 0.25"
    )
    async with Served(asking_site, config) as served:
        session, idle = await opened(served), await opened(served)
        streaming = await session.listen()
        pings = 0
        while pings < 5:
            pings += b": ping" in await streaming.line.chunk()
        assert (await session.post(message("ping"))).result == {}
        assert (await idle.post(message("ping"))).status == 404


async def test_a_thousand_sessions_that_end_leave_nothing(asking_site: Path) -> None:
    async with Served(asking_site, http_config(host=ASKING)) as served:
        await _come_and_go(served, 50)
        before, descriptors = served.memory(), served.descriptors()
        await _come_and_go(served, 300)
        assert served.memory() - before < 4 * 2**20
        async with asyncio.timeout(5):
            while served.descriptors() > descriptors:
                await served.request("GET", "/healthz")


async def _come_and_go(served: Served, many: int) -> None:
    for _ in range(many):
        session = await opened(served)
        streaming = await session.listen()
        await session.post(message("resources/subscribe", {"uri": "x://a"}))
        streaming.abort()
        assert (await served.request("DELETE", "/mcp", session.fields())).status == 204
