"""The contracts of stores for HTTP sessions and their event streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pegboard.types.callers import Caller, Client


class SessionRecord(NamedTuple):
    """All data that is needed to continue a session, in this process or in another. Construct it by keyword.

    `encode_session` and `decode_session` convert a record to bytes and back.

    Attributes:
        id: the session's id, which is unguessable.
        client: the client that opened the session, and its revision.
        caller: the only caller who may use the session.
        offered: the kinds of lists that the handshake advertised.
        level: the least severe level of log messages that the client wants.
        subscriptions: the URIs of the resources that the client has subscribed to.
        peer: the address of an anonymous caller; "" for all other callers.
    """

    id: str
    client: Client
    caller: Caller
    offered: frozenset[str]
    level: str
    subscriptions: frozenset[str] = frozenset()
    peer: str = ""


class SessionStore(Protocol):
    """Stores sessions and forgets unused ones. An exception fails the current request.

    The methods run on the event loop, several at once. Only one process uses a store at a time. A session outlives that
    process; calls of the session do not.
    """

    async def put(self, record: SessionRecord) -> bool:
        """Store a new or changed session and mark it as used. Return False if there is no room for another session."""
        ...

    async def get(self, session_id: str) -> SessionRecord | None:
        """Return the session as it was last stored and mark it as used, or None if it is unknown or forgotten."""
        ...

    async def remove(self, session_id: str) -> None:
        """Forget a session. Do nothing if it is unknown."""
        ...

    async def count(self, caller: Caller, peer: str = "") -> int:
        """Return the number of sessions whose records have this caller and this peer."""
        ...


class EventStore(Protocol):
    """Stores the latest messages of streams, for clients that reconnect.

    The methods run on the event loop, several at once. A store may forget old or large data, from the beginning of a
    stream on. It should keep a stream for some minutes after its last message: a client whose call was lost with its
    process reconnects until then, and learns of the loss afterwards.
    """

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        """Store a message of a stream, even an empty one. The numbers of a stream increase by one."""
        ...

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        """Return the messages of a stream after a number, in order, with their numbers.

        Returns:
            An empty sequence if there are none. None if they are incomplete: the stream is unknown, the next message is
                forgotten, or the number belongs to no message.
        """
        ...

    async def forget(self, session_id: str) -> None:
        """Forget all streams of a session."""
        ...
