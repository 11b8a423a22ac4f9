"""Sessions over HTTP: when a response begins, sessions that are deleted, their limits in memory, and their records."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from aiohttp import ClientSession
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Context, Host
from pegboard.plugin import Bus, SessionStore, Store, encode
from pegboard.types import ANONYMOUS, LOCAL, Caller, Client, EventStream, Response, ServerSentEvent
from pegboard_plugins.protocols.mcp.http import resumption
from pegboard_plugins.protocols.mcp.http.error_responses import StoreUnavailableError
from pegboard_plugins.protocols.mcp.http.http_session import HttpSession
from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions
from pegboard_plugins.protocols.mcp.http.memory_store import MemoryEventStore, MemorySessionStore
from pegboard_plugins.protocols.mcp.http.session_call import SessionCall
from pegboard_plugins.protocols.mcp.http.session_endpoint import SessionEndpoint
from pegboard_plugins.protocols.mcp.http.session_messages import SessionMessages
from pegboard_plugins.protocols.mcp.http.session_record import SessionRecord, decode_record, encode_record, owner_of
from pegboard_plugins.protocols.mcp.http.session_stream import MAX_LEFT_BYTES, EventId, SessionStream, StreamRetention
from pegboard_plugins.protocols.mcp.settings import McpConfig
from tests.host.hosting import kit_of, listening, never, plugin_of, until
from tests.support import asgi
from tests.support.http_mcp import JSON_FIELDS, call, message, opening
from tests.support.joined_bus import JoinedBus
from tests.support.peer import WAIT

NO_CHANGES: Any = Mock()


class SlowStore(MemorySessionStore):
    """A store that reads at once and writes late, or fails, as a test decides."""

    def __init__(self) -> None:
        super().__init__(10, 60)
        self.reads: list[asyncio.Event] = []
        self.writes: list[asyncio.Event] = []
        self.error: Exception | None = None

    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        record = await super().get(session_id)
        await self._wait(self.reads)
        return record

    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        await self._wait(self.writes)
        if self.error is not None:
            raise self.error
        return await super().update(session_id, changes)

    async def remove(self, session_id: str) -> None:
        await self._wait(self.writes)
        await super().remove(session_id)

    async def _wait(self, events: list[asyncio.Event]) -> None:
        if events:
            await events.pop(0).wait()


async def opened(
    store: MemorySessionStore, *, events: Any = None, bus: Bus | None = None, shared: Any = None, **settings: Any
) -> tuple[HttpSessions, HttpSession]:
    """Return the sessions of a store, and one that is open."""
    sessions = HttpSessions(store, events, McpConfig(**settings), NO_CHANGES, bus=bus, shared=shared)
    session = await sessions.open(Client(revision="2025-11-25"), LOCAL)
    assert session is not None
    return sessions, session


async def assert_idle(sessions: HttpSessions, session: HttpSession) -> None:
    """Check that no session is live once a session is released and idle ones are settled, as by the timer."""
    await sessions.release(session)
    while sessions._idle:
        sessions._settle_idle()
        await asyncio.gather(*sessions._tasks)
    assert not sessions._live


async def test_fields_of_a_later_version_survive_an_update() -> None:
    store = MemorySessionStore(10, 60)
    sessions, session = await opened(store)
    await store.update(session.id, {"later/x": b"1"})
    session.changed_field("level", "error")
    await sessions.release(session)
    fields = await store.get(session.id) or {}
    assert (fields["later/x"], fields["level"]) == (b"1", b"error")


async def test_no_request_waits_until_its_session_is_marked_as_used() -> None:
    """The store may be away, and the request may have waited for it already."""
    sessions, session = await opened(MemorySessionStore(10, 60))
    session.open_standalone()
    session.used_at -= 60
    assert not sessions.let_go(session)
    before = session.used_at
    await asyncio.gather(*sessions._tasks)
    assert session.used_at > before


@pytest.mark.parametrize("json", [False, True], ids=["events", "both"])
async def test_a_call_that_ends_in_the_turn_of_its_timer_is_answered(json: bool) -> None:
    _, session = await opened(MemorySessionStore(10, 60))
    call, may_end = SessionCall(1, session), asyncio.Event()

    async def answer() -> bytes:
        await may_end.wait()
        asyncio.get_running_loop().call_soon(call._commit)
        return b"{}"

    call.start(answer)
    ready = asyncio.create_task(call.until_ready(json=json, events=True))
    await asyncio.sleep(0)
    may_end.set()
    await ready
    result = call.ready_response(json=json) or call.stream(repeatable=False)
    if isinstance(result, EventStream):
        events = [event async for event in result.messages if isinstance(event, ServerSentEvent)]
        assert [event.data for event in events if event.data] == [b"{}"]
    else:
        assert (result, json) == (Response(body=b"{}"), True)


class LineBus(JoinedBus):
    """One of two processes. The line to the other may be down for some messages, or the other may have ended."""

    down = 0
    is_alone = False

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        if self.down:
            self.down -= 1
            raise ConnectionError
        return not self.is_alone and await super().send(topic, body, to)


@pytest.mark.parametrize("ends", [False, True])
async def test_a_stream_of_another_process_goes_on_after_an_outage_and_after_its_end(
    ends: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resumption, "PATIENCE_SECONDS", 0.01)
    store, buses = MemorySessionStore(10, 60), dict[int, JoinedBus]()
    first, second = LineBus(buses), LineBus(buses)
    own, other, shared = (MemoryEventStore(10**6, 10**6, 60) for _ in range(3))
    _, session = await opened(store, events=own, bus=first, shared=shared)
    there = HttpSessions(store, other, McpConfig(), NO_CHANGES, bus=second, shared=shared)
    call, may_end = SessionCall(1, session), asyncio.Event()

    async def answer() -> bytes:
        await may_end.wait()
        return b"{}"

    call.start(answer)
    lost: Any = call.stream(repeatable=False).messages
    named = EventId.parse((await anext(lost)).id)
    await lost.aclose()
    assert named is not None
    stream = await there.resumption.remote(session.id, named)
    assert stream is not None
    first.down = 10**6 if ends else 1
    may_end.set()
    await until(lambda: bool(shared._kept))
    second.is_alone = ends
    async with asyncio.timeout(20):
        assert [event.data async for event in stream] == [b"{}"]
    assert "later version" not in caplog.text
    await stream.aclose()


async def test_nothing_follows_the_response_in_streams_of_a_process_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumption, "PATIENCE_SECONDS", 0.0)
    sessions = HttpSessions(MemorySessionStore(10, 60), None, McpConfig(), NO_CHANGES)  # the other process has ended
    stream = resumption.RemoteStream(sessions.resumption, "s", 7, EventId("c-7", 0))
    for number, data in enumerate(('{"method": "x"}', '{"id": 1, "result": {}}'), 1):
        stream.receive({"data": data, "id": f"c-7.{number}", "retry": None})
    assert [event.id async for event in stream] == ["c-7.1", "c-7.2"]


async def test_a_deletion_names_the_reason_if_events_cannot_be_removed() -> None:
    shared: Any = Mock(forget=AsyncMock(side_effect=ConnectionError("gone")))
    sessions, session = await opened(MemorySessionStore(10, 60), shared=shared)
    with pytest.raises(StoreUnavailableError):
        await sessions.close(session)


async def test_data_of_tools_is_stored_before_the_response() -> None:
    store = MemorySessionStore(10, 60)
    _, session = await opened(store)
    call = SessionCall(1, session)

    async def answer() -> bytes:
        session.change("shop/cart", "1")
        return b"{}"

    call.start(answer)
    assert await call.response() == b"{}"
    assert (await store.get(session.id) or {})["data/shop/cart"] == b"1"


@pytest.mark.parametrize(("method", "status"), [("POST", 202), ("DELETE", 404)])
async def test_a_call_ends_quietly_in_the_turn_in_which_it_arrives(method: str, status: int) -> None:
    """A client that cancels at once cannot fill the log with coroutines that were never awaited."""
    cancelling = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    config = {"host": {"autoload": False}, "plugins": {"http": {}}}
    async with Host(config, toolkits={"slow": kit_of(never, name="slow_wait")}) as host:
        fields = [*JSON_FIELDS, await asgi.open_session(host.asgi())]
        called = asgi.send(host.asgi(), "POST", "/mcp", fields, json.dumps(call("slow_wait", id=2)).encode())
        asgi.send(host.asgi(), method, "/mcp", fields, json.dumps(cancelling).encode())
        assert (await called.answer()).status == status
        gc.collect()


async def test_a_session_is_gone_from_the_beginning_of_its_deletion() -> None:
    store = SlowStore()
    sessions, session = await opened(store)
    store.writes = [late := asyncio.Event()]
    closing = asyncio.create_task(sessions.close(session))
    await until(lambda: not store.writes)
    assert await sessions.find(session.id, LOCAL) is None
    late.set()
    await closing
    assert not sessions._deleted


async def test_a_session_that_was_found_before_it_was_deleted_is_gone() -> None:
    store = SlowStore()
    sessions, session = await opened(store)
    sessions._live.clear()  # as another request of an idle session finds it
    store.reads = [late := asyncio.Event()]
    finding = asyncio.create_task(sessions.find(session.id, LOCAL))
    await until(lambda: not store.reads)
    await sessions.close(session)
    late.set()
    assert await finding is None
    assert await store.get(session.id) is None


async def stored(store: SlowStore, session: HttpSession) -> Any:
    return (await store.get(session.id) or {}).get("data/shop/cart")


async def test_a_late_look_up_does_not_bring_older_data_back() -> None:
    store = SlowStore()
    sessions, session = await opened(store)
    await sessions.release(session)
    store.reads = [late := asyncio.Event()]
    finding = asyncio.create_task(sessions.find(session.id, LOCAL))
    await asyncio.sleep(0)
    first = await sessions.find(session.id, LOCAL)
    assert first is not None
    first.change("shop/cart", "1")
    await sessions.release(first)
    late.set()
    second = await finding
    assert second is not None
    assert (second.data, await stored(store, session)) == ({"shop/cart": "1"}, b"1")
    await assert_idle(sessions, second)


async def test_a_late_write_does_not_replace_newer_data() -> None:
    store = SlowStore()
    sessions, session = await opened(store)
    store.writes = [first, second] = [asyncio.Event(), asyncio.Event()]
    settling = []
    for text in ("1", "2"):
        session.change("shop/cart", text)
        settling.append(asyncio.create_task(sessions.settle(session)))
        await asyncio.sleep(0)
    second.set()
    await asyncio.sleep(0)
    first.set()
    await asyncio.gather(*settling)
    assert await stored(store, session) == b"2"
    await assert_idle(sessions, session)


async def test_a_refused_write_forgets_only_what_it_sent() -> None:
    store = SlowStore()
    store.shared = True
    sessions, session = await opened(store)
    store.writes, store.error = [late := asyncio.Event()], ConnectionError("away")
    session.change("shop/cart", "1")
    writing = asyncio.create_task(sessions.settle(session))
    await until(lambda: not store.writes)
    session.change("shop/cart", "1")  # the same value, by another request
    late.set()
    await asyncio.wait([writing])
    assert session.fields.unsaved


@pytest.mark.parametrize("late", [HttpSessions.settle, HttpSessions.release])
async def test_a_session_that_another_process_deleted_does_not_come_back(late: Any) -> None:
    store, ended = MemorySessionStore(10, 60), list[str]()
    sessions, session = await opened(store)
    store.on_expired = ended.append
    session.change("shop/cart", "1")
    await store.remove(session.id)
    await late(sessions, session)
    assert await store.get(session.id) is None
    assert await sessions.find(session.id, LOCAL) is None
    assert (session.closed, ended) == (True, [session.id])


@pytest.mark.parametrize("method", ["tools/call", "logging/setLevel"], ids=["reads", "writes"])
async def test_a_request_that_finds_its_session_deleted_by_another_process_gets_404(method: str) -> None:
    """Clients begin a new session only after 404."""
    store = MemorySessionStore(10, 60)
    store.shared = True
    offered = plugin_of(register_stores=[Store(contract=SessionStore, open=lambda: nullcontext(store), name="shared")])
    config = {"host": {"autoload": False}, "plugins": {"http": {}, "mcp": {"session_store": "shared"}}}

    sent = json.dumps(message(method, {"name": "read", "level": "error"}, id=7)).encode()

    def read(context: Context) -> str:
        return "read"

    async with Host(config, plugins={"stores": offered}, toolkits={"x": kit_of(read)}) as host:
        name, session_id = await asgi.open_session(host.asgi())
        await store.remove(session_id)
        answer = await asgi.send(host.asgi(), "POST", "/mcp", [*JSON_FIELDS, (name, session_id)], sent).answer()
    error = {"code": -32600, "message": "The session was deleted."}
    assert (answer.status, answer.json) == (404, {"jsonrpc": "2.0", "id": 7, "error": error})


async def test_a_client_is_notified_of_what_was_subscribed_while_messages_were_lost() -> None:
    store, bus = MemorySessionStore(10, 60), Bus()
    store.shared = True
    sessions, session = await opened(store, bus=bus)
    stream = session.open_standalone()
    await store.update(session.id, {"uri/x://late": b""})  # as another process does
    bus.deliver("", b"", 0)
    await asyncio.gather(*sessions._tasks)
    assert stream.queue.waiting == 1
    event = await anext(stream.read(prime=False))
    assert json.loads(event.data)["params"] == {"uri": "x://late"}
    session.close()


@pytest.mark.parametrize("settings", [{}, {"events_bytes": 0}], ids=["events", "no events"])
async def test_nothing_uses_a_store_that_was_left(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in ("SETTLE_DELAY_SECONDS", "FINISH_SECONDS"):
        monkeypatch.setattr(f"pegboard_plugins.protocols.mcp.http.http_sessions.{seconds}", 0.01)
    steps: list[str] = []
    updating = asyncio.Event()

    class HangingStore(MemorySessionStore):
        async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
            steps.append("update")
            updating.set()
            try:
                await never()
            finally:
                steps.append("end")
            return True

    @asynccontextmanager
    async def store() -> AsyncIterator[SessionStore]:
        yield HangingStore(10, 60)
        steps.append("left")

    offered = plugin_of(register_stores=[Store(contract=SessionStore, open=store, name="hanging")])
    config = {
        "host": {"autoload": False, "disabled_toolkits": ["*"]},
        "plugins": {"http": {"port": 0}, "mcp": {"session_store": "hanging", **settings}},
    }
    host = Host(config, plugins={"stores": offered})
    async with listening(host) as port:
        async with ClientSession(headers=JSON_FIELDS) as client:
            (await client.post(f"http://127.0.0.1:{port}/mcp", json=opening(id=1))).raise_for_status()
        await asyncio.wait_for(updating.wait(), WAIT)
    assert steps == ["update", "end", "left"]


async def test_an_idle_session_is_not_settled_after_the_end() -> None:
    sessions, session = await opened(MemorySessionStore(10, 60))
    await sessions.release(session)
    await sessions.finish()
    sessions._settle_idle()
    assert not sessions._tasks


async def test_a_session_whose_stream_is_open_is_not_idle() -> None:
    now = [0.0]
    store = MemorySessionStore(10, 60, lambda: now[0])
    sessions, session = await opened(store, session_idle_seconds=60)
    stream = session.open_standalone()
    await sessions.release(session)
    for now[0] in (50.0, 100.0):
        session.used_at -= 15
        sessions._touch()
        await asyncio.gather(*sessions._tasks)
    assert await store.get(session.id) is not None
    session._drop(stream)
    await asyncio.gather(*sessions._tasks)
    sessions._touch()
    assert (sessions._live, sessions._touching) == ({}, None)


async def test_data_that_could_not_be_stored_is_stored_by_the_next_request() -> None:
    store = SlowStore()
    sessions, session = await opened(store)
    for _ in range(2):
        await sessions.find(session.id, LOCAL)
    session.change("shop/cart", "1")
    store.error = OSError("full")
    with pytest.raises(OSError, match="full"):
        await sessions.release(session)
    store.error = None
    await sessions.release(session)  # while a further request uses it
    assert await stored(store, session) == b"1"
    await assert_idle(sessions, session)


async def streaming(store: SlowStore) -> tuple[HttpSession, SessionStream, Callable[[Any], Awaitable[None]]]:
    """Return a session that a running call has changed, the stream of the call, and the end of its request."""
    sessions, session = await opened(store)
    call = SessionCall(1, session)
    call.start(asyncio.Event().wait)  # type: ignore[arg-type]  # it does not end
    session.change("shop/cart", "1")
    response = call.stream(repeatable=False)
    assert call._stream is not None
    endpoint = SessionEndpoint(sessions, McpConfig(), Mock())
    return session, call._stream, lambda other: endpoint._let_go(session, other or response)


async def test_a_stream_begins_although_the_data_of_its_call_cannot_be_stored_yet() -> None:
    store = SlowStore()
    session, stream, let_go = await streaming(store)
    store.error = ConnectionError("away")
    await let_go(None)
    assert (stream.reader is not None, session.fields.unsaved) == (True, True)
    session.held += 1  # by another request, whose response is not a stream
    with pytest.raises(StoreUnavailableError):
        await let_go(Response())
    session.close()


async def test_a_stream_is_closed_if_its_client_leaves_before_it_begins() -> None:
    store = SlowStore()
    store.writes = [asyncio.Event()]
    session, stream, let_go = await streaming(store)
    ending = asyncio.ensure_future(let_go(None))
    await until(lambda: not store.writes)
    readers = [stream.reader is None]
    ending.cancel()
    await asyncio.wait([ending])
    assert [*readers, stream.reader is None] == [False, True]
    session.close()


@pytest.mark.parametrize(("size", "is_left"), [(MAX_LEFT_BYTES - 100, True), (MAX_LEFT_BYTES, False)])
async def test_only_a_response_of_limited_size_is_left_to_other_processes(size: int, is_left: bool) -> None:
    own, shared = (MemoryEventStore(10**6, 10**6, 60) for _ in range(2))
    stream = SessionStream("session", StreamRetention(own, shared=shared), "c")
    stream.queue.send(b"x" * size)
    stream.close()
    await stream.keep_rest()
    assert [await store.after("session", stream.id, -1) is not None for store in (own, shared)] == [True, is_left]


def test_unknown_members_are_ignored_and_later_messages_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    bus, received = Bus(), list[Any]()
    SessionMessages(bus, "", {"deleted": lambda message, sender: received.append((message["session"], sender))})
    known = {"kind": "deleted", "session": "s", "more": 1}
    for sent in (known, {**known, "kind": "moved"}, {**known, "kind": "shared"}):
        bus.deliver("mcp/sessions/", encode(sent), 7)
    assert received == [("s", 7)]
    assert caplog.text.count("which has a later version") == 1


async def test_a_message_that_is_being_stored_survives_the_loss_of_its_connection() -> None:
    begun, may_store, kept = asyncio.Event(), asyncio.Event(), MemoryEventStore(1000, 1000, 60)

    class SlowStore(MemoryEventStore):
        async def append(self, *message: Any) -> None:
            begun.set()
            await may_store.wait()
            await kept.append(*message)

    stream = SessionStream("session", StreamRetention(SlowStore(1, 1, 60)), "c")
    stream.queue.send(b"{}")
    reading = asyncio.ensure_future(anext(stream.read()))
    await begun.wait()
    reading.cancel()
    await asyncio.wait({reading})
    may_store.set()
    async with asyncio.timeout(WAIT):
        while await kept.after("session", stream.id, -1) != [(0, b"{}")]:  # noqa: ASYNC110
            await asyncio.sleep(0)


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_idle_sessions_are_forgotten_and_make_room() -> None:
    clock = Clock()
    store = MemorySessionStore(2, 60, clock)
    assert [await store.create(name, "ada", {}) for name in ("a", "b", "c")] == [True, True, False]
    clock.now = 50
    assert await store.update("a", {})
    clock.now = 70
    assert await store.get("b") is None
    assert [await store.create(name, "ada", {}) for name in ("c", "d")] == [True, False]
    await store.remove("c")
    assert await store.create("d", "ada", {}) is True
    clock.now = 200
    assert await store.get("a") is None
    assert (await store.count("ada"), store._of_owners) == (0, {})


async def test_events_of_all_sessions_have_a_limit() -> None:
    store = MemoryEventStore(500, 500, 60)
    for number in range(10):
        await store.append(f"s{number}", "a", 0, b"x" * 100)
    assert await store.after("s0", "a", 0) is None
    assert await store.after("s9", "a", 0) == []


async def test_old_streams_are_forgotten_and_leave_nothing() -> None:
    clock = Clock()
    store = MemoryEventStore(10**6, 10**6, 60, clock)
    for session_id in ("s", "t"):
        await store.append(session_id, "a", 0, b"x")
    clock.now = 61
    assert await store.after("s", "a", 0) is None
    assert (store._kept, store._streams, store._sizes, store._size) == ({}, {}, {}, 0)


TEXT = st.text(max_size=5)
OBJECTS = st.dictionaries(TEXT, st.none() | st.lists(st.integers() | st.booleans() | TEXT, max_size=3), max_size=3)
NAMES = st.none() | TEXT
CALLERS = st.tuples(NAMES, st.booleans(), NAMES, NAMES).map(
    lambda values: Caller(values[0], values[1], client_id=values[2], issuer=values[3])
)
CLIENTS = st.tuples(TEXT, TEXT, TEXT, OBJECTS).map(lambda values: Client(*values))
RECORDS = st.tuples(CLIENTS, CALLERS, st.frozensets(TEXT, max_size=3)).map(lambda values: SessionRecord(*values))
SAMPLE = SessionRecord(Client("c"), Caller("alice"), frozenset(("tools",)))


@given(record=RECORDS)
def test_every_field_comes_back(record: SessionRecord) -> None:
    decoded = decode_record(encode_record(record))
    assert decoded == record._replace(caller=record.caller.identity)


def changed(**members: Any) -> bytes:
    return json.dumps({**json.loads(encode_record(SAMPLE)), **members}).encode()


def test_members_of_a_later_version_are_ignored() -> None:
    assert decode_record(changed(more=1)) == SAMPLE


OTHER_BYTES = [b"", b"[]", b"null", b'{"version":3}', b"\xff"]
OTHER_RECORDS = [changed(version=2), changed(caller=None), changed(caller=[]), changed(client=5), changed(offered=5)]


@pytest.mark.parametrize("data", [*OTHER_BYTES, *OTHER_RECORDS])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_record(data)


def test_owners_are_callers_and_anonymous_addresses() -> None:
    ann = Caller("ann", issuer="https://issuer.example")
    callers = [(ann, "a"), (ann._replace(issuer=None), ""), (LOCAL, ""), (ANONYMOUS, "a"), (ANONYMOUS, "b")]
    assert len({owner_of(caller, peer) for caller, peer in callers}) == len(callers)
    assert owner_of(ann, "a") == owner_of(ann._replace(scopes=frozenset({"x"}), client_id="app"), "b")
