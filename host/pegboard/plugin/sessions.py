"""The contracts for stores of HTTP sessions and their event streams."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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


class SessionStore(ABC):
    """Stores sessions and removes unused sessions. If a method raises, the current request fails.

    The methods run on the event loop and may run concurrently, except for `put` and `update` of one session. Sessions
    survive a restart of the process. Running calls do not.

    One process uses a store at a time. The host claims the store for 15 seconds and renews the claim every 5 seconds.
    If another process has the claim, the host waits up to 20 seconds for its end, and then does not start. A store
    without `claim`, `release` or `update` works, with a warning: processes that share it overwrite each other's data.

    Attributes:
        on_expired: a function that the store calls with the id of each session that it removes for lack of use. The
            protocol sets it.
    """

    on_expired: Callable[[str], None] | None = None

    @abstractmethod
    async def put(self, record: SessionRecord) -> bool:
        """Store a new session and mark it as used. Return False if there is no room for another session."""

    async def update(self, record: SessionRecord) -> bool:
        """Replace the record of a session and mark it as used.

        Return False, and store nothing, if the session is unknown or removed. A session that has ended stays so.
        """
        return await self.put(record)

    @abstractmethod
    async def get(self, session_id: str) -> SessionRecord | None:
        """Mark a session as used and return its last stored record, or None if the session is unknown or removed."""

    @abstractmethod
    async def remove(self, session_id: str) -> None:
        """Remove a session. Do nothing if the session is unknown."""

    @abstractmethod
    async def count(self, caller: Caller, peer: str = "") -> int:
        """Return the number of sessions whose records have this caller and this peer."""

    async def claim(self, owner: str, seconds: float) -> str:
        """Claim the store for an owner, or renew the claim of this owner, unless another owner has a claim.

        The check and the claim are one step, also between processes. A claim ends `seconds` later unless it is renewed.

        Args:
            owner: the unique name of a running host, for people: "process 4711 on web-1 (9f3c2a1b)".
            seconds: how long the claim lasts.

        Returns:
            "" if the owner now has the claim. Otherwise the name of the owner that has it.
        """
        return ""

    async def release(self, owner: str) -> None:
        """End the claim of an owner. Do nothing if the owner has none."""


class EventStore(ABC):
    """Stores the latest messages of streams, for clients that reconnect.

    The methods run on the event loop and may run concurrently. A store may remove old or large messages, starting with
    the oldest of a stream. It should keep a stream for some minutes after the last message. If the process ended during
    a call, the client reconnects during this time and then learns that the call was lost.
    """

    @abstractmethod
    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        """Store a message of a stream, even an empty one. The numbers of a stream increase by one."""

    @abstractmethod
    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        """Return the messages of a stream after a number, in order, with their numbers.

        Returns:
            An empty sequence if no messages follow. None if messages are missing: the stream is unknown, the next
            message was removed, or no message has this number.
        """

    @abstractmethod
    async def forget(self, session_id: str) -> None:
        """Remove all streams of a session."""
