"""What keeps the sessions of HTTP clients, and what they may have missed, for longer than a process if need be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pegboard.types.callers import Caller, Client


class SessionRecord(NamedTuple):
    """All of a session that must be known to go on with it, in this process or in another.

    Attributes:
        id: its id, which no stranger can guess.
        client: who opened it, and in which revision.
        caller: who may use it; nobody else.
        offered: the kinds of things that its handshake said there are to list.
        level: the least severe log message that the client wants.
        subscriptions: the URIs of the resources whose changes it is told of.
        peer: the address that an anonymous caller opened it from; empty for all other callers.
    """

    id: str
    client: Client
    caller: Caller
    offered: frozenset[str]
    level: str
    subscriptions: frozenset[str] = frozenset()
    peer: str = ""


class SessionStore(Protocol):
    """Keeps sessions, and forgets those that are not used for a while. What it raises fails the request at hand.

    One process serves a store. A session outlives that process; what runs in the session does not.
    """

    async def put(self, record: SessionRecord) -> bool:
        """Keep a session, new or changed; it has just been used. False when there is no room for another."""
        ...

    async def get(self, session_id: str) -> SessionRecord | None:
        """The session of that id as it was put last; it is being used. None when it is unknown or forgotten."""
        ...

    async def remove(self, session_id: str) -> None:
        """Forget a session, if it is there."""
        ...

    async def count(self, caller: Caller, peer: str = "") -> int:
        """Return the number of sessions whose records have this caller and this peer."""
        ...


class EventStore(Protocol):
    """Keeps the latest messages of streams, for clients that lost the connection and come back for the rest.

    Nothing is kept for ever: a store is free to forget what is old or much, from the beginning of a stream on. It
    should forget a stream that has had no message for some minutes: until then a client whose call was lost with its
    process comes back for the rest again and again, and only then learns that there is none.
    """

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        """Keep a message of a stream; numbers of one stream go up by one. An empty message is kept as any other."""
        ...

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        """The messages of a stream that follow a number, in order, with theirs.

        None where they cannot be given without a gap: nothing of that stream is kept, not the one that follows, or the
        number is of no message that was ever there.
        """
        ...

    async def forget(self, session_id: str) -> None:
        """Forget all streams of a session."""
        ...
