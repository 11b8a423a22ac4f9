"""Sessions over HTTP: when a response begins, and sessions that are deleted."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import Mock

import pytest

from pegboard.plugin import SessionRecord
from pegboard.types import LOCAL, Client, EventStream, Response, ServerSentEvent
from pegboard_plugins.mcp import McpConfig
from pegboard_plugins.mcp.http.http_sessions import HttpSession, HttpSessions
from pegboard_plugins.mcp.http.memory_store import MemorySessionStore
from pegboard_plugins.mcp.http.session_call import SessionCall

NO_CHANGES: Any = Mock()


class Store(MemorySessionStore):
    """A store whose reads and removals wait for a test."""

    def __init__(self) -> None:
        super().__init__(10, 60)
        self.asked, self.may_give, self.may_remove = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.may_give.set()

    async def get(self, session_id: str) -> SessionRecord | None:
        found = await super().get(session_id)
        self.asked.set()
        await self.may_give.wait()
        return found

    async def remove(self, session_id: str) -> None:
        self.asked.set()
        await self.may_remove.wait()
        await super().remove(session_id)


async def open_session(sessions: HttpSessions) -> HttpSession:
    session = await sessions.open(Client(revision="2025-11-25"), LOCAL, NO_CHANGES)
    assert session is not None
    return session


@pytest.mark.parametrize("json", [False, True], ids=["events", "both"])
async def test_a_call_that_ends_in_the_turn_of_its_timer_is_answered(json: bool) -> None:
    sessions, may_end = HttpSessions(MemorySessionStore(10, 60), None, McpConfig()), asyncio.Event()
    call = SessionCall(1, await open_session(sessions), sessions)

    async def answer() -> bytes:
        await may_end.wait()
        asyncio.get_running_loop().call_soon(call._commit)
        return b"{}"

    call.start(answer())
    begun = asyncio.create_task(call.respond(json=json, events=True))
    await asyncio.sleep(0)
    may_end.set()
    found = await begun
    if isinstance(found, EventStream):
        assert [one.data async for one in found.messages if isinstance(one, ServerSentEvent) and one.data] == [b"{}"]
    else:
        assert (found, json) == (Response(body=b"{}"), True)


async def test_data_of_tools_is_stored_before_the_response() -> None:
    store = MemorySessionStore(10, 60)
    sessions = HttpSessions(store, None, McpConfig())
    session = await open_session(sessions)
    call = SessionCall(1, session, sessions)

    async def answer() -> bytes:
        session.data = {"shop/cart": "1"}
        return b"{}"

    call.start(answer())
    assert await call.response() == b"{}"
    assert getattr(await store.get(session.id), "data", None) == {"shop/cart": "1"}


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
