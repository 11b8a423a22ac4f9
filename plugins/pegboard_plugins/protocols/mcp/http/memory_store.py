"""The default stores: sessions and events in the memory of this process."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence

from pegboard.plugin import EventStore, SessionStore
from pegboard_plugins.protocols.mcp.settings import McpConfig

_Session = tuple[str, Mapping[str, bytes], float]
"""The owner of a session, its fields, and the time of its last use."""


class MemorySessionStore(SessionStore):
    """A `pegboard.plugin.SessionStore` of limited size.

    Args:
        most: the largest number of sessions.
        idle_seconds: how long an unused session is kept.
        clock: returns the time in seconds.

    Attributes:
        on_expired: called with the id of each session that was idle for too long.
    """

    def __init__(self, most: int, idle_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._kept: OrderedDict[str, _Session] = OrderedDict()  # least recently used first
        self._of_owners: Counter[str] = Counter()
        self._claim = "", 0.0  # the owner, and the end of its claim

    async def create(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> bool:
        self._forget_idle()
        if session_id in self._kept or len(self._kept) >= self._most:
            return False
        self._of_owners[owner] += 1
        self._use(session_id, owner, dict(fields))
        return True

    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        self._forget_idle()
        if (kept := self._kept.get(session_id)) is None:
            return False
        owner, fields, _ = kept
        if changes:
            fields = {name: field for name, field in {**fields, **changes}.items() if field is not None}
        self._use(session_id, owner, fields)
        return True

    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        self._forget_idle()
        kept = self._kept.get(session_id)
        return None if kept is None else kept[1]

    async def remove(self, session_id: str) -> None:
        self._forget(session_id)

    async def count(self, owner: str) -> int:
        self._forget_idle()
        return self._of_owners[owner]

    async def claim(self, owner: str, seconds: float) -> str:
        """Claim the store, although no other process can reach it."""
        claimed, end = self._claim
        if claimed not in {"", owner} and self._clock() < end:
            return claimed
        self._claim = owner, self._clock() + seconds
        return ""

    async def release(self, owner: str) -> None:
        if self._claim[0] == owner:
            self._claim = "", 0.0

    def _forget(self, session_id: str) -> None:
        if (former := self._kept.pop(session_id, None)) is None:
            return
        self._of_owners[former[0]] -= 1
        if not self._of_owners[former[0]]:
            del self._of_owners[former[0]]

    def _use(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> None:
        self._kept[session_id] = (owner, fields, self._clock())
        self._kept.move_to_end(session_id)

    def _forget_idle(self) -> None:
        oldest = self._clock() - self._idle_seconds
        while self._kept:
            session_id, (_, _, used) = next(iter(self._kept.items()))
            if used >= oldest:
                return
            self._forget(session_id)
            if self.on_expired is not None:
                self.on_expired(session_id)


_MESSAGE_OVERHEAD_BYTES = 100
"""The approximate memory of a message besides its data."""

StreamKey = tuple[str, str]
_Events = tuple[float, list[tuple[int, bytes]]]
"""The time of the last message of a stream, and its latest messages in a list, which is smaller than a deque."""


class MemoryEventStore(EventStore):
    """A `pegboard.plugin.EventStore` of limited size. The least recently used events are dropped first.

    Args:
        most_bytes: the maximum size of the events of all sessions.
        session_bytes: the maximum size of the events of one session.
        seconds: how long a stream is stored after its last message.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        most_bytes: int,
        session_bytes: int,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_bytes = most_bytes
        self._session_bytes = session_bytes
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[StreamKey, _Events] = OrderedDict()  # least recently used first
        self._streams: dict[str, dict[str, None]] = {}  # of each session, least recently used first
        self._sizes: dict[str, int] = {}
        self._size = 0

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        self._forget_old()
        key = (session_id, stream)
        _, messages = self._kept.pop(key, (0.0, []))
        self._kept[key] = self._clock(), messages  # at the end
        streams = self._streams.setdefault(session_id, {})
        streams.pop(stream, None)
        streams[stream] = None  # at the end
        messages.append((number, message))
        self._grow(session_id, len(message) + _MESSAGE_OVERHEAD_BYTES)
        while self._sizes.get(session_id, 0) > self._session_bytes:
            self._shrink((session_id, next(iter(self._streams[session_id]))))
        while self._size > self._most_bytes:
            self._shrink(next(iter(self._kept)))

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        self._forget_old()
        _, messages = self._kept.get((session_id, stream), (0.0, []))
        if not messages or not messages[0][0] - 1 <= number <= messages[-1][0]:
            return None
        return [message for message in messages if message[0] > number]

    async def forget(self, session_id: str) -> None:
        for stream in tuple(self._streams.get(session_id, ())):
            self._drop((session_id, stream))

    def _grow(self, session_id: str, size: int) -> None:
        self._size += size
        self._sizes[session_id] = self._sizes.get(session_id, 0) + size

    def _shrink(self, key: StreamKey) -> None:
        _, messages = self._kept[key]
        _, message = messages.pop(0)
        self._grow(key[0], -len(message) - _MESSAGE_OVERHEAD_BYTES)
        if not messages:
            self._drop(key)

    def _drop(self, key: StreamKey) -> None:
        session_id, stream = key
        _, messages = self._kept.pop(key)
        self._grow(session_id, -sum([len(message) + _MESSAGE_OVERHEAD_BYTES for _, message in messages]))
        del self._streams[session_id][stream]
        if not self._streams[session_id]:
            del self._streams[session_id], self._sizes[session_id]

    def _forget_old(self) -> None:
        oldest = self._clock() - self._seconds
        while self._kept:
            key, (used, _) = next(iter(self._kept.items()))
            if used >= oldest:
                return
            self._drop(key)


def events_in_memory(config: McpConfig) -> MemoryEventStore:
    """Return a store of events with the limits of the settings."""
    return MemoryEventStore(config.events_bytes, config.session_events_bytes, config.events_seconds)
