"""Sessions and events in memory: the contracts, and the bounds."""

from __future__ import annotations

import gc
import sys

from pegboard.plugin import EventStore, SessionStore
from pegboard.testing import EventStoreContract, SessionStoreContract, session_record
from pegboard.types import LOCAL
from pegboard_plugins.mcp.http.memory_store import MemoryEventStore, MemorySessionStore


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def after(store: EventStore, session_id: str, stream: str, number: int) -> list[bytes] | None:
    """The messages alone."""
    found = await store.after(session_id, stream, number)
    return None if found is None else [message for _, message in found]


class TestMemorySessions(SessionStoreContract):
    def make(self) -> SessionStore:
        return MemorySessionStore(100, 60)

    async def test_there_are_only_so_many(self) -> None:
        store = MemorySessionStore(2, 60)
        assert [await store.put(session_record(name)) for name in ("a", "b", "c", "a")] == [True, True, False, True]
        await store.remove("b")
        assert await store.put(session_record("c")) is True

    async def test_what_is_not_used_is_forgotten_and_makes_room(self) -> None:
        clock = Clock()
        store = MemorySessionStore(2, 60, clock)
        await store.put(session_record("a"))
        await store.put(session_record("b"))
        clock.now = 50
        assert await store.get("a") is not None
        clock.now = 70
        assert await store.get("b") is None
        assert await store.put(session_record("c")) is True
        assert await store.put(session_record("d")) is False
        assert await store.get("a") is not None
        clock.now = 200
        assert await store.get("a") is None

    async def test_an_idle_session_is_small(self) -> None:
        """Beside what the client said of itself: less than 1 KiB."""
        store = MemorySessionStore(10_000, 60)
        gc.collect()
        before = sys.getallocatedblocks()
        for number in range(1000):
            await store.put(session_record(f"session-{number}")._replace(caller=LOCAL))
        assert (sys.getallocatedblocks() - before) / 1000 < 16


class TestMemoryEvents(EventStoreContract):
    def make(self) -> EventStore:
        return MemoryEventStore(100_000, 50_000, 60)

    async def test_one_session_has_only_so_much(self) -> None:
        store = MemoryEventStore(10**6, 1000, 60)
        await store.append("t", "a", 0, b"other")
        for number in range(50):
            await store.append("s", "a", number, b"x" * 100)
        assert await after(store, "s", "a", 0) is None
        assert len(await after(store, "s", "a", 46) or ()) == 3
        assert await after(store, "t", "a", 0) == []

    async def test_what_was_used_last_is_kept_longest(self) -> None:
        clock = Clock()
        store = MemoryEventStore(10**6, 1000, 600, clock)
        for stream in ("old", "new"):
            clock.now += 1
            for number in range(2):
                await store.append("s", stream, number, b"x" * 100)
        for number in range(2, 5):
            await store.append("s", "new", number, b"x" * 100)
        assert await after(store, "s", "old", 1) is None
        assert len(await after(store, "s", "new", 0) or ()) == 4

    async def test_all_together_have_only_so_much(self) -> None:
        store = MemoryEventStore(5000, 5000, 60)
        for number in range(100):
            await store.append(f"s{number}", "a", 0, b"x" * 100)
        found = [await store.after(f"s{number}", "a", 0) is not None for number in range(100)]
        assert found == [False] * 75 + [True] * 25

    async def test_a_message_that_is_too_large_is_not_kept(self) -> None:
        store = MemoryEventStore(1000, 1000, 60)
        await store.append("s", "a", 0, b"first")
        await store.append("s", "a", 1, b"x" * 5000)
        assert await after(store, "s", "a", 0) is None
        await store.append("s", "b", 0, b"next")
        assert await after(store, "s", "b", 0) == []

    async def test_what_is_old_is_forgotten_and_leaves_nothing(self) -> None:
        clock = Clock()
        store = MemoryEventStore(10**6, 10**6, 60, clock)
        for session_id in ("s", "t"):
            await store.append(session_id, "a", 0, b"x")
        clock.now = 61
        assert await after(store, "s", "a", 0) is None
        kept = (store._kept, store._streams, store._sizes, store._size)
        assert [len(one) if isinstance(one, dict) else one for one in kept] == [0, 0, 0, 0]
