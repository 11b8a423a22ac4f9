"""What every session store and every event store must do, as tests to inherit: give `make`, and the rest is here.

class TestMySessions(SessionStoreContract):
    def make(self) -> SessionStore: ...
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

from pegboard import ANONYMOUS, LOCAL, Client, EventStore, SessionRecord, SessionStore


def record(session_id: str = "s", level: str = "info") -> SessionRecord:
    """A session as a handshake leaves it."""
    client = Client("raw", "1", "2025-11-25", {"sampling": {}, "elicitation": {"form": {}}})
    return SessionRecord(session_id, client, LOCAL, frozenset({"tools"}), level, frozenset({"x://a"}))


class SessionStoreContract(ABC):
    """Every `pegboard.SessionStore`."""

    @abstractmethod
    def make(self) -> SessionStore:
        """A store in which nothing is."""

    async def test_what_is_put_is_got(self) -> None:
        store = self.make()
        assert await store.put(record()) is True
        found = await store.get("s")
        assert found == record()
        assert isinstance(found, SessionRecord)
        assert isinstance(found.client, Client)
        assert found.caller.trusted is True

    async def test_nobody_is_who_was_never_put(self) -> None:
        store = self.make()
        await store.put(record("s"))
        for unknown in ("", "S", "s ", "ss"):
            assert await store.get(unknown) is None

    async def test_the_last_that_was_put_holds(self) -> None:
        store = self.make()
        await store.put(record())
        changed = record(level="error")._replace(subscriptions=frozenset(), caller=ANONYMOUS)
        assert await store.put(changed) is True
        assert await store.get("s") == changed

    async def test_what_is_removed_is_gone(self) -> None:
        store = self.make()
        await store.put(record("s"))
        await store.put(record("t"))
        await store.remove("s")
        await store.remove("s")
        await store.remove("unknown")
        assert await store.get("s") is None
        assert await store.get("t") == record("t")

    async def test_many_at_once_do_not_get_in_each_others_way(self) -> None:
        store = self.make()
        names = [f"s{number}" for number in range(20)]
        await asyncio.gather(*[store.put(record(name)) for name in names])
        found = await asyncio.gather(*[store.get(name) for name in names])
        assert [one and one.id for one in found] == names


class EventStoreContract(ABC):
    """Every `pegboard.EventStore`; one under test has room for a hundred short messages."""

    @abstractmethod
    def make(self) -> EventStore:
        """A store in which nothing is."""

    async def filled(self, *streams: tuple[str, str], many: int = 3) -> EventStore:
        """A store with so many messages of each stream."""
        store = self.make()
        for number in range(many):
            for session_id, stream in streams:
                await store.append(session_id, stream, number, f"{session_id}/{stream}/{number}".encode())
        return store

    async def after(self, store: EventStore, session_id: str, stream: str, number: int) -> list[bytes] | None:
        """The messages alone; their numbers must follow each other."""
        found = await store.after(session_id, stream, number)
        if found is None:
            return None
        assert [one for one, _ in found] == list(range(number + 1, number + 1 + len(found)))
        return [message for _, message in found]

    async def test_what_follows_a_message_is_given_in_order(self) -> None:
        store = await self.filled(("s", "a"))
        assert await self.after(store, "s", "a", 0) == [b"s/a/1", b"s/a/2"]
        assert await self.after(store, "s", "a", 1) == [b"s/a/2"]
        assert await self.after(store, "s", "a", 2) == []

    async def test_a_message_without_data_is_one(self) -> None:
        store = self.make()
        await store.append("s", "a", 0, b"")
        assert await self.after(store, "s", "a", 0) == []
        await store.append("s", "a", 1, "\u20ac\n".encode())
        assert await self.after(store, "s", "a", 0) == ["\u20ac\n".encode()]

    async def test_numbers_that_were_never_there_are_unknown(self) -> None:
        store = await self.filled(("s", "a"))
        assert await self.after(store, "s", "a", 3) is None
        assert await self.after(store, "s", "a", 10**12) is None
        assert await self.after(store, "s", "b", 0) is None
        assert await self.after(store, "t", "a", 0) is None
        assert await self.after(self.make(), "s", "a", 0) is None

    async def test_streams_and_sessions_are_kept_apart(self) -> None:
        store = await self.filled(("s", "a"), ("s", "b"), ("t", "a"))
        assert await self.after(store, "s", "b", 1) == [b"s/b/2"]
        assert await self.after(store, "t", "a", 1) == [b"t/a/2"]

    async def test_a_session_that_is_forgotten_is_forgotten_whole(self) -> None:
        store = await self.filled(("s", "a"), ("s", "b"), ("t", "a"))
        await store.forget("s")
        await store.forget("s")
        await store.forget("unknown")
        assert await self.after(store, "s", "a", 0) is None
        assert await self.after(store, "s", "b", 2) is None
        assert await self.after(store, "t", "a", 1) == [b"t/a/2"]

    async def test_a_gap_is_never_given(self) -> None:
        """However much was appended and forgotten: all that follows, or nothing."""
        store = await self.filled(("s", "a"), many=2000)
        for number in (0, 1, 500, 1998, 1999):
            found = await self.after(store, "s", "a", number)
            assert found is None or len(found) == 1999 - number
        assert await self.after(store, "s", "a", 1999) == []
