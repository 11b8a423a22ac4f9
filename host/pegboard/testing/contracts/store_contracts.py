"""What every session store and every event store must do (`pegboard.SessionStore`, `pegboard.EventStore`)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable

from pegboard.plugin.sessions import EventStore, SessionRecord, SessionStore
from pegboard.testing.contracts.contract import Contract, rule
from pegboard.types.callers import ANONYMOUS, LOCAL, Caller, Client


def session_record(session_id: str = "s", level: str = "info") -> SessionRecord:
    """Return a session of an authenticated caller, as the host keeps it."""
    caller = Caller(
        subject="ada",
        scopes=frozenset({"read", "write"}),
        client_id="contract-app",
        expires_at=4_102_444_800.5,
        resource="https://tools.example/mcp",
        issuer="https://issuer.example",
    )
    return SessionRecord(
        id=session_id,
        client=Client(
            name="raw", version="1", revision="2025-11-25", capabilities={"sampling": {}, "elicitation": {"form": {}}}
        ),
        caller=caller,
        offered=frozenset({"tools"}),
        level=level,
        subscriptions=frozenset({"x://a"}),
    )


class SessionStoreContract(Contract[SessionStore]):
    """The rules of a `pegboard.SessionStore`; one under test has room for twenty sessions."""

    @abstractmethod
    def make(self) -> SessionStore | Awaitable[SessionStore]:
        """A store in which nothing is."""

    @rule
    async def test_what_is_put_is_got(self, store: SessionStore) -> None:
        """All of a session goes on in another process: who opened it, who may use it, and what it wants to hear."""
        assert await store.put(session_record()) is True, "put says whether there was room"
        found = await store.get("s")
        assert found == session_record(), f"put {session_record()}, got {found}"
        assert isinstance(found, SessionRecord), f"a {type(found).__name__} came back"
        assert isinstance(found.client, Client), f"its client came back as a {type(found.client).__name__}"
        assert isinstance(found.caller, Caller), f"its caller came back as a {type(found.caller).__name__}"

    @rule
    async def test_every_field_of_a_caller_is_kept(self, store: SessionStore) -> None:
        """A caller that lost its issuer or scopes, or became an operator, would have other rights."""
        full = session_record().caller._replace(extra={"email": "ada@example.com", "groups": ["a", {"b": None}]})
        callers = (LOCAL, ANONYMOUS, full, full._replace(service=True), Caller(client_id="worker", service=True))
        for place, caller in enumerate(callers):
            record = session_record(f"s{place}")._replace(caller=caller)
            await store.put(record)
            found = await store.get(record.id)
            assert found is not None, "the session was not kept"
            for name, value in caller._asdict().items():
                kept = getattr(found.caller, name)
                assert kept == value, f"{name} of the caller was {value!r} and became {kept!r}"
                assert type(kept) is type(value) or isinstance(value, dict), f"{name} became a {type(kept).__name__}"

    @rule
    async def test_nobody_is_who_was_never_put(self, store: SessionStore) -> None:
        """An id that is nearly another's opens nothing."""
        await store.put(session_record("s"))
        for unknown in ("", "S", "s ", "ss"):
            assert await store.get(unknown) is None, f"{unknown!r} was never put"

    @rule
    async def test_the_last_that_was_put_holds(self, store: SessionStore) -> None:
        """Levels and subscriptions change while a session lasts."""
        await store.put(session_record())
        changed = session_record(level="error")._replace(subscriptions=frozenset(), caller=ANONYMOUS)
        assert await store.put(changed) is True
        found = await store.get("s")
        assert found == changed, f"put {changed} last, got {found}"

    @rule
    async def test_what_is_removed_is_gone(self, store: SessionStore) -> None:
        """A client that deleted its session cannot go on with it; removing twice, or nothing, is no fault."""
        await store.put(session_record("s"))
        await store.put(session_record("t"))
        for session_id in ("s", "s", "unknown"):
            await store.remove(session_id)
        assert await store.get("s") is None, "it was removed"
        assert await store.get("t") == session_record("t"), "another was removed along"

    @rule
    async def test_the_sessions_of_a_caller_are_counted(self, store: SessionStore) -> None:
        """A caller may have only so many; anonymous callers are told apart by their addresses."""
        ann, somebody = Caller("ann", issuer="https://issuer.example"), session_record()._replace(caller=ANONYMOUS)
        await store.put(session_record("a")._replace(caller=ann))
        await store.put(session_record("b")._replace(caller=ann))
        await store.put(session_record("b")._replace(caller=ann))
        await store.put(somebody._replace(id="c", peer="203.0.113.9"))
        await store.put(somebody._replace(id="d", peer="203.0.113.10"))
        await store.put(somebody._replace(id="e", peer="203.0.113.10"))
        await store.remove("e")
        known = [(ann, ""), (ann._replace(issuer=None), ""), (ANONYMOUS, "203.0.113.9"), (ANONYMOUS, "203.0.113.10")]
        assert [await store.count(*one) for one in known] == [2, 0, 1, 1]

    @rule
    async def test_many_at_once_do_not_get_in_each_others_way(self, store: SessionStore) -> None:
        """Clients come all at once."""
        names = [f"s{number}" for number in range(20)]
        await asyncio.gather(*[store.put(session_record(name)) for name in names])
        found = await asyncio.gather(*[store.get(name) for name in names])
        assert [one and one.id for one in found] == names


class EventStoreContract(Contract[EventStore]):
    """The rules of a `pegboard.EventStore`; one under test has room for a hundred short messages."""

    @abstractmethod
    def make(self) -> EventStore | Awaitable[EventStore]:
        """A store in which nothing is."""

    @rule
    async def test_what_follows_a_message_is_given_in_order(self, store: EventStore) -> None:
        """A client that lost its stream gets the rest, and nothing twice."""
        await _fill(store, ("s", "a"))
        assert await _after(store, "s", "a", 0) == [b"s/a/1", b"s/a/2"]
        assert await _after(store, "s", "a", 1) == [b"s/a/2"]
        assert await _after(store, "s", "a", 2) == [], "nothing follows the last, and that is not unknown"

    @rule
    async def test_a_message_is_kept_as_it_is(self, store: EventStore) -> None:
        """One without data, which begins a stream, is a message too; line breaks and other alphabets stay."""
        await store.append("s", "a", 0, b"")
        assert await _after(store, "s", "a", 0) == []
        await store.append("s", "a", 1, "\u20ac\n".encode())
        assert await _after(store, "s", "a", 0) == ["\u20ac\n".encode()]

    @rule
    async def test_numbers_that_were_never_there_are_unknown(self, store: EventStore) -> None:
        """None says that the rest cannot be given; an empty list would say that there is none."""
        assert await _after(store, "s", "a", 0) is None, "nothing is in it"
        await _fill(store, ("s", "a"))
        for session_id, stream, number in (("s", "a", 3), ("s", "a", 10**12), ("s", "b", 0), ("t", "a", 0)):
            found = await _after(store, session_id, stream, number)
            assert found is None, f"message {number} of stream {stream} of session {session_id} was never there"

    @rule
    async def test_streams_and_sessions_are_kept_apart(self, store: EventStore) -> None:
        """What one client is told is no other's."""
        await _fill(store, ("s", "a"), ("s", "b"), ("t", "a"))
        assert await _after(store, "s", "b", 1) == [b"s/b/2"]
        assert await _after(store, "t", "a", 1) == [b"t/a/2"]

    @rule
    async def test_a_session_that_is_forgotten_is_forgotten_whole(self, store: EventStore) -> None:
        """All its streams, and no other session's; forgetting twice, or nothing, is no fault."""
        await _fill(store, ("s", "a"), ("s", "b"), ("t", "a"))
        for session_id in ("s", "s", "unknown"):
            await store.forget(session_id)
        assert await _after(store, "s", "a", 0) is None
        assert await _after(store, "s", "b", 2) is None
        assert await _after(store, "t", "a", 1) == [b"t/a/2"], "another session was forgotten along"

    @rule
    async def test_a_gap_is_never_given(self, store: EventStore) -> None:
        """However much was appended and forgotten: all that follows, or nothing."""
        await _fill(store, ("s", "a"), many=2000)
        for number in (0, 1, 500, 1998, 1999):
            found = await _after(store, "s", "a", number)
            assert found is None or len(found) == 1999 - number, f"after {number} something is missing at the end"
        assert await _after(store, "s", "a", 1999) == []


async def _fill(store: EventStore, *streams: tuple[str, str], many: int = 3) -> None:
    """So many messages of each stream."""
    for number in range(many):
        for session_id, stream in streams:
            await store.append(session_id, stream, number, f"{session_id}/{stream}/{number}".encode())


async def _after(store: EventStore, session_id: str, stream: str, number: int) -> list[bytes] | None:
    """The messages alone; their numbers must follow each other."""
    found = await store.after(session_id, stream, number)
    if found is None:
        return None
    numbers = [one for one, _ in found]
    assert numbers == list(range(number + 1, number + 1 + len(found))), f"after {number} came {numbers}"
    return [message for _, message in found]
