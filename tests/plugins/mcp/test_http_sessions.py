"""Sessions over HTTP: when a response begins, when the store is given a record, and sessions that are deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pegboard.plugin import SessionRecord
from pegboard.types import LOCAL, Client, EventStream, Response, ServerSentEvent
from pegboard_plugins.mcp import McpConfig, stateless_call
from pegboard_plugins.mcp.http import http_sessions, session_call
from pegboard_plugins.mcp.http.http_sessions import HttpSession, HttpSessions
from pegboard_plugins.mcp.http.memory_store import MemorySessionStore
from pegboard_plugins.mcp.http.session_call import SessionCall
from pegboard_plugins.mcp.stateless_call import StatelessCall

REFUSED = Response(403, headers={"WWW-Authenticate": "Bearer"})
SAID = b'{"said":1}'


class NoChanges:
    def remove(self, session: object) -> None:
        """Remove nothing."""


NO_CHANGES: Any = NoChanges()


class Store(MemorySessionStore):
    """A store that notes stored records, and whose reads and removals wait for a test."""

    def __init__(self) -> None:
        super().__init__(10, 60)
        self.given: list[SessionRecord] = []
        self.asked, self.may_give, self.may_remove = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.may_give.set()

    async def put(self, record: SessionRecord) -> bool:
        self.given.append(record)
        return await super().put(record)

    async def get(self, session_id: str) -> SessionRecord | None:
        found = await super().get(session_id)
        self.asked.set()
        await self.may_give.wait()
        return found

    async def remove(self, session_id: str) -> None:
        self.asked.set()
        await self.may_remove.wait()
        await super().remove(session_id)


async def open_session(sessions: HttpSessions, revision: str = "2025-11-25") -> HttpSession:
    session = await sessions.open(Client(revision=revision), LOCAL, NO_CHANGES)
    assert session is not None
    return session


# --- when a response begins


class Calls:
    """One call of either era, for a peer that takes event streams."""

    def __init__(self) -> None:
        self.at_end: Callable[[], None] | None = None
        self.may_end, self.running = asyncio.Event(), asyncio.Event()
        self.sessions = HttpSessions(MemorySessionStore(10, 60), None, McpConfig())

    async def begin(self, era: str, *says: bytes, refused: bool = False, json: bool = False) -> Response | EventStream:
        if era == "2026-07-28":
            self.call: StatelessCall | SessionCall = StatelessCall()
            return await self.call.respond(self._answer(says, refused=refused), streamed=not json)
        self.call = SessionCall(1, await open_session(self.sessions, era), self.sessions)
        self.call.start(self._answer(says, refused=refused))
        return await self.call.respond(json=json, events=True)

    async def end(self, begun: Response | EventStream) -> list[bytes]:
        assert isinstance(begun, EventStream)
        self.may_end.set()
        return [one for one in await data(begun.messages) if one]

    async def _answer(self, says: tuple[bytes, ...], *, refused: bool) -> bytes:
        self.running.set()
        for said in says:
            self.call.send(said)
        if refused:
            self.call.head = REFUSED
        else:
            await self.may_end.wait()
        if self.at_end is not None:
            asyncio.get_running_loop().call_soon(self.at_end)
        return b"{}"


async def data(messages: AsyncIterator[bytes | ServerSentEvent]) -> list[bytes]:
    return [one if isinstance(one, bytes) else one.data async for one in messages]


ERAS = pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
JSON = pytest.mark.parametrize("json", [False, True], ids=["events", "both"])


@ERAS
async def test_a_stream_begins_with_the_first_message_or_after_a_while(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Calls()
    assert await call.end(await call.begin(era, SAID)) == [SAID, b"{}"]
    monkeypatch.setattr(stateless_call, "COMMIT_SECONDS", 0)
    monkeypatch.setattr(session_call, "COMMIT_SECONDS", 0)
    silent = Calls()
    assert await silent.end(await silent.begin(era)) == [b"{}"]


@JSON
async def test_a_call_that_ends_in_the_turn_of_its_timer_is_answered(json: bool) -> None:
    call = Calls()
    begun = asyncio.create_task(call.begin("2025-11-25", json=json))
    await call.running.wait()
    call.may_end.set()
    call.at_end = call.call._commit  # type: ignore[union-attr]  # of sessions
    answer = await begun
    if json:
        assert answer == Response(body=b"{}")
    else:
        assert await call.end(answer) == [b"{}"]


@ERAS
@JSON
async def test_a_refusal_is_no_stream(era: str, json: bool) -> None:
    for says in ((), (SAID,)):
        assert await Calls().begin(era, *says, refused=True, json=json) == REFUSED._replace(body=b"{}")


@ERAS
async def test_a_peer_that_leaves_cancels_its_call_in_the_stateless_era_only(era: str) -> None:
    call = Calls()
    begun = asyncio.create_task(call.begin(era))
    await call.running.wait()
    begun.cancel()
    with pytest.raises(asyncio.CancelledError):
        await begun
    task = call.call._task
    call.may_end.set()
    await asyncio.wait([task])
    assert task.cancelled() == (era == "2026-07-28")


# --- when the store is given a record


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", None),
        ("level", "error"),
        ("subscriptions", frozenset(("x://a",))),
        ("offered", frozenset(("tools",))),
        ("interval", 0.0),
    ],
)
async def test_a_record_is_stored_when_it_changes_now_and_then_and_when_the_last_request_ends(
    name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store()
    sessions = HttpSessions(store, None, McpConfig())
    opened = await open_session(sessions)
    await sessions.release(opened)
    session, same = [await sessions.find(opened.id, LOCAL, NO_CHANGES) for _ in range(2)]
    assert session is not None
    assert session is same
    await sessions.settle(session)
    store.given.clear()
    if name == "interval":
        monkeypatch.setattr(http_sessions, "STORE_INTERVAL_SECONDS", value)
    elif name:
        setattr(session, name, value)
    await sessions.release(session)
    assert store.given == ([session.record] if name else [])
    await sessions.release(session)
    assert store.given[-1] == session.record == await store.get(session.id)


# --- sessions that are deleted


async def test_a_session_is_gone_from_the_beginning_of_its_deletion() -> None:
    store = Store()
    sessions = HttpSessions(store, None, McpConfig())
    session = await open_session(sessions)
    closing = asyncio.create_task(sessions.close(session))
    await store.asked.wait()
    assert await sessions.find(session.id, LOCAL, NO_CHANGES) is None
    store.may_remove.set()
    await closing
    assert not sessions._deleted


async def test_a_session_that_was_found_before_it_was_deleted_is_gone() -> None:
    store = Store()
    store.may_give.clear()
    store.may_remove.set()
    sessions = HttpSessions(store, None, McpConfig())
    session = await open_session(sessions)
    sessions._live.clear()  # as another request of an idle session finds it
    finding = asyncio.create_task(sessions.find(session.id, LOCAL, NO_CHANGES))
    await store.asked.wait()
    await sessions.close(session)
    store.may_give.set()
    assert await finding is None
    assert await store.get(session.id) is None
