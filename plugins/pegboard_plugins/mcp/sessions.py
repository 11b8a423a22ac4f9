"""Sessions over HTTP (2025-03-26 to 2025-11-25): small objects in a table of bounded size."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from functools import partial

from pegboard import Caller, Client, RequestId
from pegboard_plugins.mcp.exchange import Exchange
from pegboard_plugins.mcp.session import Session


class HttpSession(Session):
    """A session and the requests in flight.

    Attributes:
        caller: who opened it; nobody else may use it.
        last_used: when it was used last, by the monotonic clock.
        running: the calls in flight by the ids of their requests.
    """

    __slots__ = ("caller", "last_used", "running")

    id: str

    def __init__(self, client: Client, caller: Caller, now: float) -> None:
        super().__init__(client, secrets.token_urlsafe(24))
        self.caller = caller
        self.last_used = now
        self.running: dict[RequestId, Exchange] = {}

    def cancel(self, request_id: RequestId) -> None:
        """Cancel a request in flight, if there is one of that id; the id is free again at once."""
        exchange = self.running.pop(request_id, None)
        if exchange is not None:
            exchange.cancel(partial(self.withdraw, exchange))


class Sessions:
    """Every session of a host. A session that was idle for too long is forgotten.

    Args:
        most: how many there may be.
        idle_seconds: after how long without a request one is forgotten.
    """

    def __init__(self, most: int, idle_seconds: float) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        self._sessions: OrderedDict[str, HttpSession] = OrderedDict()  # least recently used first

    def open(self, client: Client, caller: Caller) -> HttpSession | None:
        """A new session; None when there are too many."""
        now = time.monotonic()
        self._forget_idle(now)
        if len(self._sessions) >= self._most:
            return None
        session = HttpSession(client, caller, now)
        self._sessions[session.id] = session
        return session

    def get(self, session_id: str, caller: Caller) -> HttpSession | None:
        """A session of this very caller; another's is as unknown as none."""
        session = self._sessions.get(session_id)
        if session is None or session.caller != caller:
            return None
        if time.monotonic() - session.last_used > self._idle_seconds and not session.running:
            self.close(session)
            return None
        self.touch(session)
        return session

    def touch(self, session: HttpSession) -> None:
        """Begin to count its idle time anew."""
        if session.id in self._sessions:
            session.last_used = time.monotonic()
            self._sessions.move_to_end(session.id)

    def close(self, session: HttpSession) -> None:
        """Forget a session and cancel what runs in it."""
        self._sessions.pop(session.id, None)
        for request_id in list(session.running):
            session.cancel(request_id)
        session.end()

    def _forget_idle(self, now: float) -> None:
        for session in list(self._sessions.values()):
            if now - session.last_used <= self._idle_seconds:
                return
            if not session.running:
                self.close(session)
