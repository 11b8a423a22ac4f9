"""Sessions and events in memory: the contracts, and the limits."""

from __future__ import annotations

from pegboard.plugin import EventStore, SessionStore
from pegboard_plugins.protocols.mcp.http.memory_store import MemoryEventStore, MemorySessionStore
from pegboard_testing import EventStoreContract, SessionStoreContract


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class TestMemorySessionStore(SessionStoreContract):
    def make(self) -> SessionStore:
        return MemorySessionStore(100, 60)

    async def test_idle_sessions_are_forgotten_and_make_room(self) -> None:
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


async def kept(store: EventStore, session_id: str, stream: str, number: int) -> int | None:
    """Return how many messages follow a number, None if some are not kept."""
    events = await store.after(session_id, stream, number)
    return None if events is None else len(events)


async def fill(store: EventStore, session_id: str, stream: str, *numbers: int, size: int = 100) -> None:
    for number in numbers:
        await store.append(session_id, stream, number, b"x" * size)


class TestMemoryEventStore(EventStoreContract):
    def make(self) -> EventStore:
        return MemoryEventStore(100_000, 50_000, 60)

    async def test_all_sessions_have_a_limit(self) -> None:
        store = MemoryEventStore(500, 500, 60)
        for number in range(10):
            await fill(store, f"s{number}", "a", 0)
        counts = [await kept(store, f"s{number}", "a", 0) for number in range(10)]
        assert counts[0] is None
        assert counts[-1] == 0

    async def test_old_streams_are_forgotten_and_leave_nothing(self) -> None:
        clock = Clock()
        store = MemoryEventStore(10**6, 10**6, 60, clock)
        for session_id in ("s", "t"):
            await fill(store, session_id, "a", 0)
        clock.now = 61
        assert await kept(store, "s", "a", 0) is None
        assert (store._kept, store._streams, store._sizes, store._size) == ({}, {}, {}, 0)
