"""Sessions over HTTP. An idle session is only a record in a store. A session in use also has an object."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from contextvars import Context
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pegboard.plugin import Bus, EventStore, ProtocolContext, ProtocolError, SessionStore
from pegboard.types import Caller, Client
from pegboard_plugins.protocols.mcp.call_notifications import log_limit
from pegboard_plugins.protocols.mcp.client_requests import ClientRequestIds
from pegboard_plugins.protocols.mcp.http.error_responses import REACHING, SessionDeletedError, StoreUnavailableError
from pegboard_plugins.protocols.mcp.http.http_session import HttpSession
from pegboard_plugins.protocols.mcp.http.resumption import Resumption
from pegboard_plugins.protocols.mcp.http.session_messages import Receive, SessionMessages
from pegboard_plugins.protocols.mcp.http.session_record import (
    RECORD,
    SessionRecord,
    decode_record,
    encode_record,
    owner_of,
)
from pegboard_plugins.protocols.mcp.http.session_stream import SessionStream, StreamRetention
from pegboard_plugins.protocols.mcp.revisions import since
from pegboard_plugins.support.refusal_log import RefusalLog, fingerprint

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.change_broadcaster import ChangeBroadcaster
    from pegboard_plugins.protocols.mcp.http.session_call import SessionCall
    from pegboard_plugins.protocols.mcp.settings import McpConfig

USE_INTERVAL_SECONDS = 1.0
"""The interval for marking a session in constant use as used."""
SETTLE_DELAY_SECONDS = 0.05
"""How long an idle session keeps its object."""
SHARED_SECONDS = 15.0
"""Both times with a shared store, which is on the network. Other processes tell the changes of the session."""
RETRY_SECONDS = 1.0
"""How long a session that others have changed waits before it is read again, if the store cannot be reached."""
FINISH_SECONDS = 1.0
"""How long the end of the host waits until responses are stored."""
MAX_READS = 3
"""How often a session is read again because an own write ended meanwhile."""

logger = logging.getLogger("pegboard.mcp")
_AUDIT = RefusalLog()
_decoded = lru_cache(maxsize=1024)(decode_record)


class HttpSessions:
    """The sessions of one endpoint.

    Args:
        store: the store of sessions.
        events: the store of the messages of the sessions' streams, or None for no store.
        config: the settings of the plugin.
        changes: the changes that clients are notified of.
        profile: the profile of the endpoint, "" for none. Ids of sessions name it, so that other endpoints refuse them.
        bus: the bus to the processes that share the store.
        shared: the store in which these processes find the responses of streamed calls; None for no store.

    Attributes:
        changes: the changes that clients are notified of.
        messages: the messages between the processes that share the store.
        resumption: the streams that clients resume at another process.
        request_ids: the ids of this process's requests to clients.
        is_sealed: True if the id of a session holds its record.
        is_shared: True if other processes may change the sessions.
    """

    is_sealed = False

    def __init__(
        self,
        store: SessionStore,
        events: EventStore | None,
        config: McpConfig,
        changes: ChangeBroadcaster,
        profile: str = "",
        bus: Bus | None = None,
        shared: EventStore | None = None,
    ) -> None:
        self.changes = changes
        self._profile = profile
        bus = bus or Bus()
        handlers = {
            "answer": self._in_use(lambda session, message: session.requests.settle(message["message"])),
            "progress": self._in_use(lambda session, message: session.requests.report_progress(message["params"])),
            "cancelled": self._in_use(lambda session, message: session.cancel(message["request"])),
            "deleted": self._receive_deletion,
            "changed": self._receive_change,
        }
        self.messages = SessionMessages(bus, profile, handlers)
        self._number = bus.number
        bus.listen("", self._reload_all)
        self.resumption = Resumption(self)
        self._stale: set[str] = set()  # sessions that others have changed while they were looked up
        self.request_ids = ClientRequestIds(lambda: bus.number)
        self._store = store
        self.is_shared = store.shared
        self._events = events
        self._config = config
        self._shared_events = shared
        self._plain = StreamRetention(events, number=lambda: bus.number, shared=shared)
        self._primed = self._plain._replace(retry_ms=config.retry_ms, poll_seconds=config.poll_after_seconds or None)
        self._live: dict[str, HttpSession] = {}
        self._idle: dict[str, tuple[HttpSession, bool]] = {}  # sessions to settle, and if they were used again since
        self._timer: asyncio.TimerHandle | None = None
        self._touch_seconds = config.session_idle_seconds / 4
        self._touching: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: dict[str, int] = {}  # the number of requests that wait for the store, by session
        self._deleted: set[str] = set()  # sessions that were deleted meanwhile
        self._use_seconds = SHARED_SECONDS if self.is_shared else USE_INTERVAL_SECONDS
        self._settle_seconds = SHARED_SECONDS if self.is_shared else SETTLE_DELAY_SECONDS
        self._finished = False

    def attach(self, host: ProtocolContext) -> None:
        """Report ended sessions to a host. End the calls that still run when its grace period is over."""
        self._store.on_expired = host.session_ended

        async def wait() -> None:
            end = await host.wait_stopping()
            asyncio.get_running_loop().call_at(end, self._cut_calls)

        self.run(wait())

    def _cut_calls(self) -> None:
        for session in tuple(self._live.values()):
            for call in tuple(session.running.values()):
                call.cut()

    async def finish(self) -> None:
        """End the calls that still run, and store what no client has read, before the stores close.

        Tasks that take too long are cancelled. Nothing begins later.
        """
        self._cut_calls()
        with suppress(TimeoutError):
            async with asyncio.timeout(FINISH_SECONDS):
                while self._tasks:
                    await asyncio.wait(self._tasks)
                    await asyncio.sleep(0)  # the tasks that have ended are removed
        self._finished = True
        for task in self._tasks:
            task.cancel()
        await asyncio.sleep(0)  # they end

    async def may_open(self, caller: Caller, peer: str) -> bool:
        """Return True if a caller may open another session. The limit does not apply to the operator."""
        if caller.trusted:
            return True
        with REACHING:
            of_caller = await self._store.count(owner_of(caller, peer))
        return of_caller < self._config.max_sessions_per_caller

    async def open(
        self, client: Client, caller: Caller, peer: str = "", offered: frozenset[str] = frozenset()
    ) -> HttpSession | None:
        """Open a session and hold it until its release. Return None if the store is full."""
        record = SessionRecord(client, caller.identity, offered)
        new_id = self._new_id(record)
        session_id = f"{self._profile}.{new_id}" if self._profile else new_id
        fields = {RECORD: encode_record(record)}
        with REACHING:
            if not await self._store.create(session_id, owner_of(caller, peer), fields):
                return None
        return self._hold(session_id, fields)

    def _new_id(self, record: SessionRecord) -> str:
        """Return the id of a new session, without its profile."""
        return secrets.token_urlsafe(24)

    async def find(self, session_id: str, caller: Caller, peer: str = "") -> HttpSession | None:
        """Return a session of this caller, held until it is released.

        The session of another caller or profile counts as unknown.
        """
        if session_id.rpartition(".")[0] != self._profile:
            return None
        if (session := self.live(session_id, caller)) is not None:
            return session
        foreign = self._live.get(session_id)
        if foreign is None:
            return await self._look_up(session_id, caller, peer)
        _log_foreign_session(session_id, foreign.caller, caller, peer)
        return None

    def live(self, session_id: str, caller: Caller) -> HttpSession | None:
        """Return a session of this caller that is in use, held until it is released. Return None for others."""
        live = self._live.get(session_id)
        if live is None or (live.caller != caller and live.caller != caller.identity):
            return None  # the first comparison is faster: most callers are their own identity
        live.held += 1
        return live

    async def _look_up(self, session_id: str, caller: Caller, peer: str) -> HttpSession | None:
        """Return a session that was not in use. Return None if it is unknown or is deleted meanwhile."""
        self._looking[session_id] = self._looking.get(session_id, 0) + 1
        try:
            fields = await self._read(session_id)
            if fields is None:
                return None
            owner = _decoded(fields[RECORD]).caller
            if owner != caller.identity:
                _log_foreign_session(session_id, owner, caller, peer)
                return None
            return self._hold(session_id, fields)
        finally:
            self._looked(session_id)

    async def _read(self, session_id: str) -> Mapping[str, bytes] | None:
        """Return the fields of a session. Return None if it is unknown or is deleted meanwhile."""
        fields: Mapping[str, bytes] | None = None
        self._stale.add(session_id)
        while session_id in self._stale:
            self._stale.discard(session_id)
            with REACHING:
                fields = await self._store.get(session_id)
        try:
            if fields is not None and session_id not in self._deleted:
                _decoded(fields[RECORD])
                return fields
        except (KeyError, ValueError):
            logger.warning("a session that another version of pegboard has stored is unknown here")
        return None

    def _looked(self, session_id: str) -> None:
        others = self._looking.pop(session_id) - 1
        if others:
            self._looking[session_id] = others
            return
        self._deleted.discard(session_id)
        self._stale.discard(session_id)
        if (live := self._live.get(session_id)) is not None:
            self._drop_unused(live)

    def _hold(self, session_id: str, fields: Mapping[str, bytes]) -> HttpSession:
        live = self._live.get(session_id)
        if live is None:
            record = _decoded(fields[RECORD])
            live = HttpSession(session_id, record, self._retention(record.client), self)
            live.use(fields)
            live.is_sealed = self.is_sealed
            live.log_limit = log_limit(self._config.logs_per_second)
            self._live[session_id] = live
            if self._touching is None:
                self._touch_later()
        live.held += 1
        return live

    async def reload(self, session: HttpSession) -> None:
        """Read the fields of a session that other processes may change.

        Raises:
            ProtocolError: the session has ended, or the store cannot be reached.
        """
        fields: Mapping[str, bytes] | None = None
        for _ in range(MAX_READS):
            writes = session.fields.writes
            with REACHING:
                fields = await self._store.get(session.id)
            if writes == session.fields.writes:  # else the fields may be older than an own change
                break
        if fields is None:
            self._end(session)
            raise SessionDeletedError
        session.use(fields)

    def _retention(self, client: Client) -> StreamRetention:
        is_primed = self._events is not None and since(client.revision, "2025-11-25")
        return self._primed if is_primed else self._plain

    def stream(self, session_id: str, stream_id: str) -> SessionStream:
        """Return a stream of a session in use, or what is stored of a stream that has ended."""
        live = self._live.get(session_id)
        kept = None if live is None else live.streams.get(stream_id)
        return kept or SessionStream(session_id, self._plain, "", stream_id)

    async def release(self, session: HttpSession) -> None:
        """Release a session after a request."""
        if self.let_go(session):
            await self.settle(session)

    def let_go(self, session: HttpSession) -> bool:
        """Release a session after a request. Return True if the caller must settle it."""
        session.held -= 1
        if session.fields.unsaved:
            return True
        if session.idle:
            self._settle_later(session)
        elif asyncio.get_running_loop().time() - session.used_at >= self._use_seconds:
            self.settle_soon(session)  # no request waits until its session is marked as used
        return False

    async def settle(self, session: HttpSession, call: SessionCall | None = None) -> None:
        """Store the changes, and mark the session as used. Drop the session object if unused.

        Args:
            session: the session.
            call: the call that ends with this, if one does.

        Raises:
            StoreUnavailableError: the changes cannot be stored.
        """
        was_storing = session.fields.storing.locked()
        async with session.fields.storing:
            if session.closed or self._live.get(session.id) is not session:
                return
            if session.fields.unsaved or not was_storing:  # else another request has just stored it
                await self._put(session, call)
        self._drop_unused(session)

    async def _put(self, session: HttpSession, call: SessionCall | None) -> None:
        changes = dict(session.fields.changes)
        session.used_at = asyncio.get_running_loop().time()
        is_kept = None
        try:
            with REACHING:
                is_kept = await self._store.update(
                    session.id, {name: None if text is None else text.encode() for name, (text,) in changes.items()}
                )
        except StoreUnavailableError:
            if changes:
                raise
            return  # it is marked as used later
        finally:
            # another process may replace what was refused, so it is stored later only if a call here waits for it
            is_awaited = not self.is_shared or any(other is not call for other in session.running.values())
            session.fields.end_write(changes, forget=is_kept is not None or not is_awaited)
        if not is_kept:  # another process has deleted it, or nothing used it for too long
            self._end(session)
        elif any(not name.startswith("data/") for name in changes):
            await self.messages.tell("changed", session=session.id)

    def _end(self, session: HttpSession) -> None:
        """End a session that is not in the store any more."""
        if self._live.pop(session.id, None) is not None and self._store.on_expired is not None:
            self._store.on_expired(session.id)
        session.close()

    def _settle_later(self, session: HttpSession) -> None:
        """Settle an idle session a moment later. Often another request uses the session before."""
        self._idle[session.id] = (session, session.id in self._idle)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            # the variables of a call would keep the call's tool in memory
            self._timer = loop.call_later(self._settle_seconds, self._settle_idle, context=Context())

    def _settle_idle(self) -> None:
        self._timer = None
        idle, self._idle = self._idle, {}
        used_before = asyncio.get_running_loop().time() - self._use_seconds
        for session, was_used_again in idle.values():
            if not session.idle:
                continue  # its next release settles it
            if was_used_again:
                self._settle_later(session)
            if not was_used_again or session.used_at <= used_before:
                self.settle_soon(session)

    def _drop_unused(self, session: HttpSession) -> None:
        """Drop the session object if nothing uses it, not even a request that waits for the store."""
        is_used = not session.idle or session.fields.unsaved or session.fields.storing.locked()
        is_used = is_used or session.id in self._looking or session.id in self._idle
        if not is_used and self._live.get(session.id) is session:
            self._live.pop(session.id, None)

    def _touch_later(self) -> None:
        self._touching = asyncio.get_running_loop().call_later(self._touch_seconds, self._touch, context=Context())

    def _touch(self) -> None:
        """Mark sessions in use as used: a stream may stay open for longer than a store keeps idle sessions."""
        self._touching = None
        if not self._live:
            return
        self._touch_later()
        before = asyncio.get_running_loop().time() - self._touch_seconds
        for session in self._live.values():
            if session.used_at <= before:
                self.settle_soon(session)

    def settle_soon(self, session: HttpSession) -> None:
        """Settle a session after the current turn of the event loop."""
        if not session.closed:
            self.run(self.settle(session))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work for a session in a new task, unless the stores close."""
        if self._finished:
            work.close()
        else:
            self.follow(asyncio.create_task(work))

    def follow(self, task: asyncio.Task[None]) -> None:
        """Keep a task, for which `finish` waits."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, session: HttpSession) -> None:
        """End a session and remove its data from the stores."""
        self._live.pop(session.id, None)
        session.close()
        self._looking[session.id] = self._looking.get(session.id, 0) + 1
        self._deleted.add(session.id)
        try:
            with REACHING:
                await self._store.remove(session.id)
                await self.messages.tell("deleted", session=session.id)
                for events in (self._events, self._shared_events):
                    if events is not None:
                        await events.forget(session.id)
        finally:
            self._looked(session.id)

    # --- other processes

    def _in_use(self, receive: Callable[[HttpSession, dict[str, Any]], object]) -> Receive:
        """Return a handler that passes messages on if their session is in use."""

        def handle(message: dict[str, Any], sender: int) -> None:
            if (session := self._live.get(message["session"])) is not None:
                receive(session, message)

        return handle

    def _receive_deletion(self, message: dict[str, Any], sender: int) -> None:
        session_id = message["session"]
        if session_id in self._looking:
            self._deleted.add(session_id)
        if (session := self._live.get(session_id)) is not None:
            self._end(session)

    def _receive_change(self, message: dict[str, Any], sender: int) -> None:
        session_id = message["session"]
        if session_id in self._looking:
            self._stale.add(session_id)
        if (session := self._live.get(session_id)) is not None:
            self.run(self._reload_quietly(session))

    def _reload_all(self, body: bytes, sender: int) -> None:
        """Read all sessions again, because messages may be lost. If the process was suspended, end their streams."""
        was_suspended, self._number = self._number != self.messages.number, self.messages.number
        self._stale.update(self._looking)
        for session in tuple(self._live.values()):
            if was_suspended:
                session.suspend()
            self.run(self._reload_quietly(session, notify_all=True))

    async def _reload_quietly(self, session: HttpSession, *, notify_all: bool = False) -> None:
        """Read the fields of a session, when the store can be reached.

        Args:
            session: the session.
            notify_all: notify its client of everything, because changes may be lost.
        """
        with suppress(ProtocolError):  # it has ended
            while self._live.get(session.id) is session:
                try:
                    await self.reload(session)
                    session.changed(session.everything if notify_all else ())
                    break
                except StoreUnavailableError:
                    notify_all = True
                    await asyncio.sleep(RETRY_SECONDS)


def _log_foreign_session(session_id: str, owner: Caller, caller: Caller, peer: str) -> None:
    """Log the caller that used the session of another caller."""
    whose = {"owner": owner.subject, "issuer_of_owner": owner.issuer}
    _AUDIT.refused("a session of another caller", caller, {**whose, "peer": peer, "session": fingerprint(session_id)})
