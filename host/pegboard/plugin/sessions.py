"""The contracts for stores of HTTP sessions and their event streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pegboard.records import NamedTuple
from pegboard.types.callers import EMPTY, Caller, Client


class SessionRecord(NamedTuple):
    """The data from which this or another process continues a session. Construct it by keyword.

    `encode_session` and `decode_session` convert a record to bytes and back.

    Attributes:
        id: the unguessable id of the session.
        client: the client that opened the session, with its protocol revision.
        caller: the only caller who may use the session.
        offered: the kinds of lists that the handshake advertised.
        level: the least severe level of log messages that the client requested.
        subscriptions: the URIs of the resources that the client has subscribed to.
        peer: the address of an anonymous caller; "" for all other callers.
        data: the values that tools keep in the session, as JSON, by toolkit and key such as "shop/cart".
    """

    id: str
    client: Client
    caller: Caller
    offered: frozenset[str]
    level: str
    subscriptions: frozenset[str] = frozenset()
    peer: str = ""
    data: Mapping[str, str] = EMPTY


class SessionStore(Protocol):
    """Stores sessions and removes unused sessions. If a method raises, the current request fails.

    The methods run on the event loop and may run concurrently, except for `put` of one session. Only one process uses a
    store at a time. Sessions survive a restart of the process. Running calls do not.

    A store may have an attribute `on_expired`, None at first. The protocol sets it to a function that the store calls
    with the id of each session that it removes for lack of use.
    """

    async def put(self, record: SessionRecord) -> bool:
        """Store a new or changed session and mark it as used. Return False if there is no room for another session."""
        ...

    async def get(self, session_id: str) -> SessionRecord | None:
        """Mark a session as used and return its last stored record, or None if the session is unknown or removed."""
        ...

    async def remove(self, session_id: str) -> None:
        """Remove a session. Do nothing if the session is unknown."""
        ...

    async def count(self, caller: Caller, peer: str = "") -> int:
        """Return the number of sessions whose records have this caller and this peer."""
        ...


class EventStore(Protocol):
    """Stores the latest messages of streams, for clients that reconnect.

    The methods run on the event loop and may run concurrently. A store may remove old or large messages, starting with
    the oldest of a stream. It should keep a stream for some minutes after the last message. If the process ended during
    a call, the client reconnects during this time and then learns that the call was lost.
    """

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        """Store a message of a stream, even an empty one. The numbers of a stream increase by one."""
        ...

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        """Return the messages of a stream after a number, in order, with their numbers.

        Returns:
            An empty sequence if no messages follow. None if messages are missing: the stream is unknown, the next
            message was removed, or no message has this number.
        """
        ...

    async def forget(self, session_id: str) -> None:
        """Remove all streams of a session."""
        ...
