"""Keeps the last events of each stream in memory, for clients that lose a connection."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager

from pegboard.plugin import EventStore, Plugin, Store, hookimpl

MAX_EVENTS = 100


class RecentEvents(EventStore):
    """The last events of each stream."""

    def __init__(self) -> None:
        self._streams: dict[tuple[str, str], deque[tuple[int, bytes]]] = {}

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        """Add an event. The oldest one is dropped if there are too many."""
        self._streams.setdefault((session_id, stream), deque(maxlen=MAX_EVENTS)).append((number, message))

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        """Return the events after a number, or None if some of them are lost."""
        events = self._streams.get((session_id, stream))
        if not events or not events[0][0] - 1 <= number <= events[-1][0]:
            return None
        return [event for event in events if event[0] > number]

    async def forget(self, session_id: str) -> None:
        """Delete the streams of a session."""
        self._streams = {key: events for key, events in self._streams.items() if key[0] != session_id}


class RecentEventsPlugin(Plugin):
    """Selected by `[plugins.mcp] event_store = "recent_events"`."""

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        """Return the store."""
        return [Store(contract=EventStore, open=self.events)]

    @asynccontextmanager
    async def events(self) -> AsyncGenerator[RecentEvents, None]:
        """Create the store while the host runs."""
        yield RecentEvents()
