"""A session that is deleted while another request looks for it in the store."""

from __future__ import annotations

import asyncio
from typing import Any

from pegboard.plugin import SessionRecord
from pegboard.types import LOCAL, Client
from pegboard_plugins.mcp import McpConfig
from pegboard_plugins.mcp.http.http_sessions import HttpSessions
from pegboard_plugins.mcp.http.memory_store import MemorySessionStore


class NoChanges:
    """Nobody is told of changes."""

    def remove(self, session: object) -> None:
        """Do nothing."""


NOBODY_LISTENS: Any = NoChanges()


class Slow(MemorySessionStore):
    """A store that gives what it has found, and removes, when it is let."""

    def __init__(self) -> None:
        super().__init__(10, 60)
        self.asked, self.may_give, self.may_remove = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def get(self, session_id: str) -> SessionRecord | None:
        found = await super().get(session_id)
        self.asked.set()
        await self.may_give.wait()
        return found

    async def remove(self, session_id: str) -> None:
        self.asked.set()
        await self.may_remove.wait()
        await super().remove(session_id)


async def test_a_session_that_was_found_before_it_was_deleted_is_gone() -> None:
    store = Slow()
    sessions = HttpSessions(store, None, McpConfig())
    session = await sessions.open(Client(revision="2025-11-25"), LOCAL, NOBODY_LISTENS)
    assert session is not None
    sessions._live.clear()  # as another request of an idle session finds it
    finding = asyncio.create_task(sessions.find(session.id, LOCAL, NOBODY_LISTENS))
    await store.asked.wait()
    store.may_remove.set()
    await sessions.close(session)
    store.may_give.set()
    assert await finding is None
    assert await store.get(session.id) is None


async def test_a_session_is_gone_from_the_beginning_of_its_deletion() -> None:
    store = Slow()
    store.may_give.set()
    sessions = HttpSessions(store, None, McpConfig())
    session = await sessions.open(Client(revision="2025-11-25"), LOCAL, NOBODY_LISTENS)
    assert session is not None
    closing = asyncio.create_task(sessions.close(session))
    await store.asked.wait()
    assert await sessions.find(session.id, LOCAL, NOBODY_LISTENS) is None
    store.may_remove.set()
    await closing
    assert not sessions._deleted
