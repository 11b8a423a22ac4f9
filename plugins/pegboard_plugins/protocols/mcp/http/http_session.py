"""A session over HTTP that is in use: its calls, and its streams."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pegboard.plugin import SessionRecord
from pegboard.types import Change, RequestId
from pegboard_plugins.protocols.mcp.change_broadcaster import notification
from pegboard_plugins.protocols.mcp.client_requests import ClientRequestIds
from pegboard_plugins.protocols.mcp.http.session_stream import SessionStream, StreamRetention
from pegboard_plugins.protocols.mcp.session import Session

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.change_broadcaster import ChangeBroadcaster
    from pegboard_plugins.protocols.mcp.http.session_call import SessionCall

STANDALONE_STREAM_PREFIX = "a"
"""The first letter of the ids of standalone streams (streams without a call)."""
MAX_STANDALONE_STREAMS = 4
"""The largest number of standalone streams of one session. Beyond it the oldest stream is closed."""
RESUME_SECONDS = 60.0
"""How long a session collects changes for a client that has lost the stream."""


class HttpSession(Session):
    """A session in use: a request is handled, a call runs, or a stream is open.

    Attributes:
        caller: the caller that opened the session. No other caller may use it.
        retention: how the session's streams are stored.
        running: the calls in flight, by the ids of their requests.
        streams: the streams that a client can resume, by their ids.
        held: the number of requests in progress.
        kept: the last stored record.
        kept_at: the time at which the record was last sent to the store, on the event loop's clock.
        storing: held while the store stores the record, so that no older record replaces it.
        closed: True if the session has ended.
    """

    __slots__ = (
        "_changes",
        "_on_idle",
        "caller",
        "closed",
        "held",
        "kept",
        "kept_at",
        "retention",
        "running",
        "storing",
        "streams",
    )

    id: str

    def __init__(
        self,
        record: SessionRecord,
        retention: StreamRetention,
        changes: ChangeBroadcaster,
        on_idle: Callable[[HttpSession], None],
        request_ids: ClientRequestIds,
    ) -> None:
        super().__init__(record.client, record.id, request_ids)
        self.caller = record.caller
        self.level = record.level
        self.offered = record.offered
        self.subscriptions = record.subscriptions
        self.data = record.data
        self.retention = retention
        self.running: dict[RequestId, SessionCall] = {}
        self.streams: dict[str, SessionStream] = {}
        self.held = 0
        self.kept = record
        self.kept_at = 0.0
        self.storing = asyncio.Lock()
        self.closed = False
        self._changes = changes
        self._on_idle = on_idle

    @property
    def record(self) -> SessionRecord:
        """The session's data for the store."""
        return SessionRecord(
            id=self.id,
            client=self.client,
            caller=self.caller,
            offered=self.offered,
            level=self.level,
            subscriptions=self.subscriptions,
            peer=self.kept.peer,
            data=self.data,
        )

    @property
    def unsaved(self) -> bool:
        """True if the record has changed since it was stored."""
        kept = self.kept
        return (
            self.level is not kept.level
            or self.subscriptions is not kept.subscriptions
            or self.offered is not kept.offered
            or self.data is not kept.data
        )

    @property
    def idle(self) -> bool:
        """True if no request, call or stream uses it."""
        return not (self.held or self.running or self.streams)

    def cancel(self, request_id: RequestId) -> bool:
        """Cancel a request in flight. Return False if no request has that id. The id may be reused immediately."""
        call = self.running.pop(request_id, None)
        if call is not None:
            call.cancel()
        return call is not None

    def cut_calls(self) -> None:
        """Cut the calls that run, because the host stops."""
        for call in tuple(self.running.values()):
            call.cut()

    def close(self) -> None:
        """End the session and everything that runs in it."""
        self.closed = True
        for call in self.running.values():
            call.end_with_session()
        self.running.clear()
        self.end()
        for stream in self.streams.values():
            stream.retention = StreamRetention(None)
            stream.close()
        self.streams.clear()
        self._changes.remove(self)

    # --- the streams apart from calls

    def open_standalone(self, stream_id: str | None = None, number: int = 0) -> SessionStream:
        """Open a standalone stream. Move unsent messages of an earlier standalone stream to the new stream."""
        stream = SessionStream(self.id, self.retention, STANDALONE_STREAM_PREFIX, stream_id, number)
        stream.on_left = self._lost
        former = self._standalone()
        if former and former[-1].reader is None:
            former[-1].move_to(stream)
        self.streams[stream.id] = stream
        for old in former[: len(former) + 1 - MAX_STANDALONE_STREAMS]:
            self._drop(old)
        self._changes.add(self)
        return stream

    def _lost(self, stream: SessionStream) -> None:
        """Handle a lost stream. The client may resume the stream for `RESUME_SECONDS`."""
        if stream.open and self.retention.store is not None:
            stream.expiry = asyncio.get_running_loop().call_later(RESUME_SECONDS, self._drop, stream)
        else:
            self._drop(stream)

    def _drop(self, stream: SessionStream) -> None:
        stream.close()
        if self.streams.get(stream.id) is stream:
            del self.streams[stream.id]
        if not self._standalone():
            self._changes.remove(self)
        self._on_idle(self)

    def _standalone(self) -> list[SessionStream]:
        return [stream for stream in self.streams.values() if stream.id.startswith(STANDALONE_STREAM_PREFIX)]

    @property
    def waiting(self) -> int:
        """The number of unread messages on all streams."""
        return sum(stream.waiting for stream in tuple(self.streams.values()))

    def changed(self, changes: Iterable[Change]) -> None:
        """Send changes on one stream: the latest stream with a reader, else the latest resumable stream."""
        standalone = self._standalone()
        if not standalone:
            return
        target = next((stream for stream in reversed(standalone) if stream.reader is not None), standalone[-1])
        for change in changes:
            if self.is_subscribed_to(change):
                target.send(notification(change), key=change)

    def stop(self) -> None:
        """Close the standalone streams."""
        for stream in self._standalone():
            stream.close()
