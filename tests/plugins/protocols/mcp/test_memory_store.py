"""Sessions and events in memory: the limits. Their contracts are tested with the mutants of the contracts."""

from __future__ import annotations

from pegboard_plugins.protocols.mcp.http.memory_store import MemoryEventStore, MemorySessionStore


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
