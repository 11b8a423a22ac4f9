"""When the store is given the record of a session: when nothing runs in it any more, when it changed, now and then."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.plugin import SessionRecord
from pegboard.types import LOCAL, Client
from pegboard_plugins.mcp import McpConfig
from pegboard_plugins.mcp.http import http_sessions
from pegboard_plugins.mcp.http.http_sessions import HttpSessions
from pegboard_plugins.mcp.http.memory_store import MemorySessionStore

CLIENT = Client(revision="2025-11-25")
NOBODY_LISTENS: Any = None


class Counting(MemorySessionStore):
    def __init__(self) -> None:
        super().__init__(10, 60)
        self.given: list[SessionRecord] = []

    async def put(self, record: SessionRecord) -> bool:
        self.given.append(record)
        return await super().put(record)


class Overlapping:
    """A session in which two requests overlap, and its store."""

    def __init__(self) -> None:
        self.store = Counting()
        self.sessions = HttpSessions(self.store, None, McpConfig())

    async def begin(self) -> None:
        opened = await self.sessions.open(CLIENT, LOCAL, NOBODY_LISTENS)
        assert opened is not None
        await self.sessions.release(opened)
        found = [await self.sessions.find(opened.id, LOCAL, NOBODY_LISTENS) for _ in range(2)]
        assert found[0] is not None
        assert found[0] is found[1]
        self.session = found[0]
        await self.sessions.settle(self.session)
        self.store.given.clear()

    async def release(self) -> list[SessionRecord]:
        """One of them ends; what the store was given then."""
        before = len(self.store.given)
        await self.sessions.release(self.session)
        return self.store.given[before:]


@pytest.fixture
async def overlapping() -> Overlapping:
    made = Overlapping()
    await made.begin()
    return made


async def test_only_the_last_of_requests_that_overlap_counts_as_use(overlapping: Overlapping) -> None:
    assert await overlapping.release() == []
    assert await overlapping.release() == [overlapping.session.record]
    assert await overlapping.store.get(overlapping.session.id) == overlapping.session.record


@pytest.mark.parametrize(
    ("name", "value"),
    [("level", "error"), ("subscriptions", frozenset(("x://a",))), ("offered", frozenset(("tools",)))],
)
async def test_what_a_request_changed_is_kept_before_it_is_answered(
    overlapping: Overlapping, name: str, value: Any
) -> None:
    setattr(overlapping.session, name, value)
    assert [getattr(record, name) for record in await overlapping.release()] == [value]


async def test_a_session_that_is_never_idle_is_kept_now_and_then(
    overlapping: Overlapping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_sessions, "STORE_INTERVAL_SECONDS", 0.0)
    assert await overlapping.release() == [overlapping.session.record]
