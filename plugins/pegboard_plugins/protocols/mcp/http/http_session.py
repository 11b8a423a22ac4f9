"""A session over HTTP that is in use: its calls, and its streams."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pegboard.types import Change
from pegboard_plugins.protocols.mcp.change_broadcaster import notification
from pegboard_plugins.protocols.mcp.http.session_record import SessionRecord
from pegboard_plugins.protocols.mcp.http.session_stream import SessionStream, StreamRetention
from pegboard_plugins.protocols.mcp.session import CHANGE, DEFAULT_LEVEL, Session
from pegboard_plugins.support.jsonrpc import RequestId

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions
    from pegboard_plugins.protocols.mcp.http.session_call import SessionCall

STANDALONE_STREAM_PREFIX = "a"
"""The first letter of the ids of standalone streams (streams without a call)."""
MAX_STANDALONE_STREAMS = 4
"""The largest number of standalone streams of one session. Beyond it the oldest stream is closed."""
RESUME_SECONDS = 60.0
"""How long a session collects changes for a client that has lost the stream."""


FieldChange: TypeAlias = tuple[str | None]
"""The new text of a field, or None if the field was removed."""


class ChangedFields:
    """The fields of a session that changed since they were stored.

    The fields are `level`, `uri/URI` for each subscribed resource, and `data/TOOLKIT/KEY` for each value of a tool.

    Attributes:
        changes: the changes to store. Each is a tuple of its own, which tells it from a later change to the same value.
        writes: the number of writes that have ended.
        storing: held while the store stores changes, so that no older value replaces a newer one.
    """

    __slots__ = ("changes", "storing", "writes")

    def __init__(self) -> None:
        self.changes: dict[str, FieldChange] = {}
        self.writes = 0
        self.storing = asyncio.Lock()

    @property
    def unsaved(self) -> bool:
        """True if a change is not stored."""
        return bool(self.changes)

    def over(self, stored: Mapping[str, str]) -> dict[str, str]:
        """Return stored fields with the changes that are not stored."""
        fields = {**stored, **{name: text for name, (text,) in self.changes.items()}}
        return {name: text for name, text in fields.items() if text is not None}

    def end_write(self, sent: Mapping[str, FieldChange], *, forget: bool) -> None:
        """Forget the changes that were sent, but not later ones. Or keep all for the next write."""
        with CHANGE:
            if forget:
                self.changes = {name: change for name, change in self.changes.items() if change is not sent.get(name)}
        self.writes += 1


class HttpSession(Session):
    """A session in use: a request is handled, a call runs, or a stream is open.

    Attributes:
        sessions: the sessions of the endpoint.
        caller: the caller that opened the session. No other caller may use it.
        retention: how the session's streams are stored.
        running: the calls in flight, by the ids of their requests.
        streams: the streams that a client can resume, by their ids.
        held: the number of requests in progress.
        fields: the fields that changed since they were stored.
        used_at: the time at which the session was last marked as used in the store, on the event loop's clock.
        closed: True if the session has ended.
    """

    __slots__ = (
        "_used",
        "caller",
        "closed",
        "fields",
        "held",
        "retention",
        "running",
        "sessions",
        "streams",
        "used_at",
    )

    id: str

    def __init__(
        self, session_id: str, record: SessionRecord, retention: StreamRetention, sessions: HttpSessions
    ) -> None:
        super().__init__(record.client, session_id, sessions.request_ids)
        self.sessions = sessions
        self.caller = record.caller
        self.offered = record.offered
        self.retention = retention
        self.running: dict[RequestId, SessionCall] = {}
        self.streams: dict[str, SessionStream] = {}
        self.held = 0
        self.fields = ChangedFields()
        self.used_at = 0.0
        self.closed = False
        self._used: Mapping[str, bytes] | None = None  # the fields of the store that its values are still equal to

    async def load(self) -> None:
        """Read the values of the session, if another process may have changed them."""
        if self.sessions.is_shared:
            await self.sessions.reload(self)

    def changed_field(self, name: str, text: str | None) -> None:
        """Note that a field has changed. The session is stored before the current request is answered."""
        self.fields.changes[name] = (text,)
        self._used = None

    def use(self, fields: Mapping[str, bytes]) -> None:
        """Take over the fields of the store, except for changes of this process that are not stored yet."""
        if fields == self._used:
            return
        with CHANGE:
            self._used = None if self.fields.unsaved else fields
            texts = self.fields.over({name: field.decode() for name, field in fields.items()})
            self.level = texts.get("level", DEFAULT_LEVEL)
            self.subscriptions = frozenset(_named("uri/", texts))
            self.data = _named("data/", texts)

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

    def suspend(self) -> None:
        """End the readers of streams and the waiting questions: other processes assume that this process has ended."""
        for call in self.running.values():
            self.withdraw(call)
        for stream in self.streams.values():
            if stream.reader is not None:
                stream.reader.stop()

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
        self.sessions.changes.remove(self)

    # --- the streams apart from calls

    def open_standalone(
        self, stream_id: str | None = None, number: int = 0, *, notify_all: bool = False
    ) -> SessionStream:
        """Open a standalone stream. Move unsent messages of an earlier standalone stream to the new stream.

        Args:
            stream_id: the id of an earlier stream to continue.
            number: the number of its next message.
            notify_all: begin with a notification of each list and subscribed resource, as changes may be lost.
        """
        retention = self.retention._replace(shared=None)  # a new stream notifies of everything
        stream = SessionStream(self.id, retention, STANDALONE_STREAM_PREFIX, stream_id, number, on_left=self._lost)
        former = self._standalone()
        if former and former[-1].reader is None:
            former[-1].queue.move_to(stream.queue)
        for change in self.everything if notify_all else ():
            stream.queue.send(notification(change), key=change)
        self.streams[stream.id] = stream
        for old in former[: len(former) + 1 - MAX_STANDALONE_STREAMS]:
            self._drop(old)
        self.sessions.changes.add(self)
        return stream

    def _lost(self, stream: SessionStream) -> None:
        """Handle a lost stream. The client may resume the stream for `RESUME_SECONDS`."""
        if not stream.queue.closed and self.retention.store is not None:
            stream.expiry = asyncio.get_running_loop().call_later(RESUME_SECONDS, self._drop, stream)
        else:
            self._drop(stream)

    def _drop(self, stream: SessionStream) -> None:
        stream.close()
        if self.streams.get(stream.id) is stream:
            del self.streams[stream.id]
        if not self._standalone():
            self.sessions.changes.remove(self)
        self.sessions.settle_soon(self)

    def _standalone(self) -> list[SessionStream]:
        return [stream for stream in self.streams.values() if stream.id.startswith(STANDALONE_STREAM_PREFIX)]

    @property
    def waiting(self) -> int:
        return sum(stream.queue.waiting for stream in tuple(self.streams.values()))

    def changed(self, changes: Iterable[Change]) -> None:
        """Send changes on one stream: the latest stream with a reader, else the latest resumable stream."""
        standalone = self._standalone()
        if not standalone:
            return
        target = next((stream for stream in reversed(standalone) if stream.reader is not None), standalone[-1])
        for change in changes:
            if self.is_subscribed_to(change):
                target.queue.send(notification(change), key=change)

    def stop(self) -> None:
        """Close the standalone streams."""
        for stream in self._standalone():
            stream.close()


def _named(kind: str, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a kind, by the rest of their names."""
    return {name.removeprefix(kind): text for name, text in fields.items() if name.startswith(kind)}
