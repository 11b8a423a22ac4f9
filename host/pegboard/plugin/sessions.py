"""The contracts for stores of HTTP sessions and their event streams."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence


class SessionStore(ABC):
    """Stores sessions and removes unused sessions. A session is an id, an owner, and named fields of bytes.

    The methods run on the event loop and may run concurrently. If one raises, the current request fails. After
    `ConnectionError`, which a method raises if it cannot reach the store within a second, the response is 503, and
    clients try again. Sessions survive a restart of the process. Running calls do not.

    One process uses a store at a time, unless it is `shared`. The host claims the store for 15 seconds and renews the
    claim every 5 seconds. If another process has the claim, the host waits up to 20 seconds for its end, and then does
    not start. A store without `claim` and `release` works, with a warning.

    Attributes:
        shared: True if several processes may use the store at once. The host then claims nothing, and protocols keep
            no value that another process may change. False by default.
        on_expired: a function that the store calls with the id of each session that it removes for lack of use. The
            protocol sets it.
    """

    shared: bool = False
    on_expired: Callable[[str], None] | None = None

    @abstractmethod
    async def create(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> bool:
        """Store a new session and mark it as used. Return False if the id exists, or if there is no room for another.

        Args:
            session_id: the unguessable id of the session.
            owner: the caller of the session, for `count`.
            fields: the values by name.
        """

    @abstractmethod
    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        """Set fields of a session, remove those whose value is None, and mark the session as used, in one step.

        Other fields stay. Return False, and store nothing, if the session is unknown or removed. A session that has
        ended is not restored. Without changes, the session is only marked as used.
        """

    @abstractmethod
    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        """Return the fields of a session, or None if the session is unknown or removed."""

    @abstractmethod
    async def remove(self, session_id: str) -> None:
        """Remove a session. Do nothing if the session is unknown."""

    @abstractmethod
    async def count(self, owner: str) -> int:
        """Return the number of sessions of an owner."""

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

    Attributes:
        shared: True if several processes use the store at once. Protocols then keep the messages of running calls in
            their process, and store for each call one message with its response and what its client may not have read.
            False by default.
    """

    shared: bool = False

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
