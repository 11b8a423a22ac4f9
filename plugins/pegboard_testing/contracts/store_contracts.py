"""The rules of session stores and event stores (`pegboard.plugin.SessionStore`, `pegboard.plugin.EventStore`)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Mapping
from unittest import SkipTest

from pegboard.plugin.sessions import EventStore, SessionStore
from pegboard_testing.contracts.contract import Contract, disposed_of, rule

LAPSE_ATTEMPTS = 200
"""How often a rule tries to claim a store, every 10 ms, until a claim of 10 ms has ended."""


FIELDS: Mapping[str, bytes] = {"record": b'{"a":"\xe2\x82\xac"}', "level": b"info", "data/shop/cart": bytes(range(256))}
"""The fields of a session: text, and bytes that are no text."""


class SessionStoreContract(Contract[SessionStore]):
    """The rules of a session store. The tested store has room for twenty sessions."""

    @abstractmethod
    def make(self) -> SessionStore | Awaitable[SessionStore]:
        """Return an empty store."""

    def make_other(self, made: SessionStore) -> SessionStore | Awaitable[SessionStore] | None:
        """Return another object for the data of a `shared` store, as a second process has. `dispose` receives it too.

        By default, return None, and skip the rule for it. The rule runs in one process, so it does not notice a lock
        that all objects of a class have in common.
        """
        return None

    @rule
    async def test_a_session_is_kept(self, store: SessionStore) -> None:
        """Another process can continue the session with the same fields."""
        assert await store.create("s", "ada", FIELDS) is True, "create must return True if there is room"
        stored = await store.get("s")
        assert stored == FIELDS, f"create stored {FIELDS}, got {stored}"

    @rule
    async def test_unknown_ids_have_no_session(self, store: SessionStore) -> None:
        """A similar id is another session."""
        await store.create("s", "ada", FIELDS)
        for unknown in ("", "S", "s ", "ss"):
            assert await store.get(unknown) is None, f"a session was returned for the unknown id {unknown!r}"

    @rule
    async def test_an_id_is_used_once(self, store: SessionStore) -> None:
        """A session cannot be replaced by another one."""
        await store.create("s", "ada", FIELDS)
        assert await store.create("s", "eve", {}) is False, "create must return False if the session exists"
        assert await store.get("s") == FIELDS, "create replaced a session"

    @rule
    async def test_fields_change_one_by_one(self, store: SessionStore) -> None:
        """Two processes that change different fields of a session lose none."""
        await store.create("s", "ada", FIELDS)
        changes: list[Mapping[str, bytes | None]] = [
            {"level": None, "a": b"1"},
            {"b": b"2"},
            {"a": b""},
            {"c": None},
            {},
        ]
        for change in changes:
            assert await store.update("s", change) is True, "update must return True if the session exists"
        expected = {**FIELDS, "a": b"", "b": b"2"}
        expected.pop("level")
        stored = await store.get("s")
        assert stored == expected, f"after the updates {changes}, got {stored}"

    @rule
    async def test_concurrent_changes_are_kept(self, store: SessionStore) -> None:
        """Concurrent calls of one session do not affect each other."""
        await store.create("s", "ada", {})
        names = [f"data/shop/{number}" for number in range(20)]
        await asyncio.gather(*[store.update("s", {name: name.encode()}) for name in names])
        assert await store.get("s") == {name: name.encode() for name in names}, "concurrent updates lost a field"

    @rule
    async def test_processes_share_sessions(self, store: SessionStore) -> None:
        """Processes that use a shared store at once see each other's changes, and lose none."""
        if not store.shared:
            return
        made = self.make_other(store)
        if made is None:
            raise SkipTest("`make_other` returns None")
        async with disposed_of(self, made) as other:
            await store.create("s", "ada", {})
            fields = {f"data/shop/{number}": b"1" for number in range(20)}
            both = (store, other)
            await asyncio.gather(*[both[number % 2].update("s", {name: b"1"}) for number, name in enumerate(fields)])
            assert await store.get("s") == await other.get("s") == fields, "two stores do not have the changes of both"
            await other.remove("s")
            assert await store.get("s") is None, "the other store has removed the session"

    @rule
    async def test_a_late_write_creates_no_session(self, store: SessionStore) -> None:
        """A session that its client has deleted stays deleted, although a call of it is still running."""
        await store.create("s", "ada", FIELDS)
        await store.remove("s")
        changes: list[Mapping[str, bytes | None]] = [{"level": b"error"}, {}]
        for change in changes:
            assert await store.update("s", change) is False, "update must return False for a removed session"
            assert await store.get("s") is None, "update created a session that was removed"
        assert await store.count("ada") == 0, "update counted a session that was removed"

    @rule
    async def test_a_session_can_be_removed(self, store: SessionStore) -> None:
        """A client cannot continue a session that it deleted. A repeated removal does not raise."""
        await store.create("s", "ada", FIELDS)
        await store.create("t", "ada", FIELDS)
        for session_id in ("s", "s", "unknown"):
            await store.remove(session_id)
        assert await store.get("s") is None, "it was removed"
        assert await store.get("t") == FIELDS, "another session was removed, too"

    @rule
    async def test_the_sessions_of_an_owner_are_counted(self, store: SessionStore) -> None:
        """A caller has a limit of sessions."""
        for session_id, owner in (("a", "ada"), ("b", "ada"), ("b", "ada"), ("c", "eve"), ("d", "eve")):
            await store.create(session_id, owner, FIELDS)
        await store.remove("d")
        await store.remove("d")
        await store.update("c", {"level": b"error"})
        assert [await store.count(owner) for owner in ("ada", "eve", "", "Ada")] == [2, 1, 0, 0]

    @rule
    async def test_concurrent_sessions_are_independent(self, store: SessionStore) -> None:
        """Concurrent calls do not affect each other."""
        names = [f"s{number}" for number in range(20)]
        await asyncio.gather(*[store.create(name, "ada", {"name": name.encode()}) for name in names])
        sessions = await asyncio.gather(*[store.get(name) for name in names])
        assert [session and session["name"].decode() for session in sessions] == names

    @rule
    async def test_one_owner_has_the_store(self, store: SessionStore) -> None:
        """Processes that use the store at once do not learn of each other's changes. A shared store has no owner."""
        if store.shared:
            return
        owners = [f"process {number} on web" for number in range(20)]
        claims = await asyncio.gather(*[store.claim(owner, 60) for owner in owners])
        assert claims.count("") == 1, f"{claims.count('')} of {len(owners)} owners have the claim at once, not one"
        owner = owners.pop(claims.index(""))
        for other in owners:
            holder = await store.claim(other, 60)
            assert holder == owner, f"claim returned {holder!r} to {other!r}, while {owner!r} has the claim"
        assert await store.claim(owner, 60) == "", "the owner could not renew its claim"

    @rule
    async def test_a_released_store_can_be_claimed(self, store: SessionStore) -> None:
        """A process that begins when another process has ended does not wait. Only the owner ends its claim."""
        if store.shared:
            return
        await store.claim("a", 60)
        await store.release("b")
        assert await store.claim("b", 60) == "a", "the release of another owner ended the claim"
        await store.release("a")
        assert await store.claim("b", 60) == "", "the claim remained after its release"

    @rule
    async def test_a_claim_lapses(self, store: SessionStore) -> None:
        """A process that was killed releases nothing."""
        if store.shared:
            return
        await store.claim("a", 0.01)
        for _ in range(LAPSE_ATTEMPTS):
            if not await store.claim("b", 60):
                break
            await asyncio.sleep(0.01)
        else:
            raise AssertionError("a claim of 10 ms did not expire")
        assert await store.claim("a", 60) == "b", "an owner whose claim has ended took the store from the next owner"


class EventStoreContract(Contract[EventStore]):
    """The rules of an event store. The tested store has room for a hundred short messages."""

    @abstractmethod
    def make(self) -> EventStore | Awaitable[EventStore]:
        """Return an empty store."""

    @rule
    async def test_later_messages_are_returned_in_order(self, store: EventStore) -> None:
        """A client that lost its stream receives the rest, and no message twice."""
        await _fill(store, ("s", "a"))
        assert await _after(store, "s", "a", 0) == [b"s/a/1", b"s/a/2"]
        assert await _after(store, "s", "a", 1) == [b"s/a/2"]
        assert await _after(store, "s", "a", 2) == [], "no message follows the last one: return an empty list"

    @rule
    async def test_a_message_is_kept_unchanged(self, store: EventStore) -> None:
        """An empty message, which begins a stream, is a message. Line breaks and all characters stay."""
        await store.append("s", "a", 0, b"")
        assert await _after(store, "s", "a", 0) == []
        await store.append("s", "a", 1, "\u20ac\n".encode())
        assert await _after(store, "s", "a", 0) == ["\u20ac\n".encode()]

    @rule
    async def test_unknown_numbers_return_none(self, store: EventStore) -> None:
        """None means that the rest is unknown; an empty list means that there is no rest."""
        assert await _after(store, "s", "a", 0) is None, "the store is empty"
        await _fill(store, ("s", "a"))
        for session_id, stream, number in (("s", "a", 3), ("s", "a", 10**12), ("s", "b", 0), ("t", "a", 0)):
            messages = await _after(store, session_id, stream, number)
            assert messages is None, f"there is no message {number} of stream {stream} of session {session_id}"

    @rule
    async def test_streams_and_sessions_are_separate(self, store: EventStore) -> None:
        """A client does not receive messages of another client."""
        await _fill(store, ("s", "a"), ("s", "b"), ("t", "a"))
        assert await _after(store, "s", "b", 1) == [b"s/b/2"]
        assert await _after(store, "t", "a", 1) == [b"t/a/2"]

    @rule
    async def test_all_streams_of_a_session_are_forgotten(self, store: EventStore) -> None:
        """All streams of the session are forgotten, and no others. A repeated call does not raise."""
        await _fill(store, ("s", "a"), ("s", "b"), ("t", "a"))
        for session_id in ("s", "s", "unknown"):
            await store.forget(session_id)
        assert await _after(store, "s", "a", 0) is None
        assert await _after(store, "s", "b", 2) is None
        assert await _after(store, "t", "a", 1) == [b"t/a/2"], "another session was forgotten, too"

    @rule
    async def test_no_message_is_missing(self, store: EventStore) -> None:
        """After any number of messages, the store returns all messages that follow, or None."""
        await _fill(store, ("s", "a"), many=2000)
        for number in (0, 1, 500, 1998, 1999):
            messages = await _after(store, "s", "a", number)
            assert messages is None or len(messages) == 1999 - number, f"after {number} something is missing at the end"
        assert await _after(store, "s", "a", 1999) == []


async def _fill(store: EventStore, *streams: tuple[str, str], many: int = 3) -> None:
    """Append messages to each stream."""
    for number in range(many):
        for session_id, stream in streams:
            await store.append(session_id, stream, number, f"{session_id}/{stream}/{number}".encode())


async def _after(store: EventStore, session_id: str, stream: str, number: int) -> list[bytes] | None:
    """Return the messages after a number. The numbers of the messages must be consecutive."""
    messages = await store.after(session_id, stream, number)
    if messages is None:
        return None
    numbers = [later for later, _ in messages]
    assert numbers == list(range(number + 1, number + 1 + len(messages))), f"after {number} came {numbers}"
    return [message for _, message in messages]
