"""Tells the client of a message stream of changes, no faster than it reads: of a session, and of its subscriptions.

A task runs while there is something to tell, and none while there is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.plugin import Connection, ProtocolError, jsonrpc_notification
from pegboard.types import Caller, Change, Client, RequestId
from pegboard_plugins.mcp.changes import notification
from pegboard_plugins.mcp.envelope import INTERNAL_ERROR
from pegboard_plugins.mcp.outbox import Outbox
from pegboard_plugins.mcp.service import Service
from pegboard_plugins.mcp.session import Session

if TYPE_CHECKING:
    from pegboard_plugins.mcp.listening import Listening

MOST_LISTENING = 100
"""How many subscriptions one connection may have."""


class Teller:
    """Passes messages of outboxes on to a connection, as its peer takes them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._due: dict[Outbox, Callable[[], None] | None] = {}
        self._task: asyncio.Task[None] | None = None

    def tell(self, outbox: Outbox, told: Callable[[], None] | None = None) -> None:
        """Pass on what waits in an outbox, soon; then say so."""
        self._due[outbox] = told
        if self._task is None:
            self._task = asyncio.create_task(self._tell())

    def now(self, outbox: Outbox) -> None:
        """Pass on all that waits in an outbox, at once."""
        self._due.pop(outbox, None)
        while (message := outbox.pop()) is not None:
            self._connection.send(message)

    def end(self) -> None:
        """Pass on nothing more."""
        self._due.clear()
        if self._task is not None:
            self._task.cancel()

    async def _tell(self) -> None:
        try:
            while self._due:
                await self._connection.drain()
                self._tell_one()
        finally:
            self._task = None

    def _tell_one(self) -> None:
        outbox = next(iter(self._due), None)
        if outbox is None:
            return
        told = self._due.pop(outbox)
        if (message := outbox.pop()) is not None:
            self._due[outbox] = told  # behind the others: none has to wait for one that is never empty
            self._connection.send(message)
        elif told is not None:
            told()


class SessionNews:
    """Tells the client of a session, which a connection is, of changes."""

    def __init__(self, session: Session, teller: Teller) -> None:
        self._session = session
        self._outbox = Outbox()
        self._outbox.on_message = partial(teller.tell, self._outbox)

    def changed(self, changes: Iterable[Change]) -> None:
        """Tell what the client wants to hear of; a change that still waits to be told is not told again."""
        for change in changes:
            if self._session.hears_of(change):
                self._outbox.send(notification(change), key=change)

    def stop(self) -> None:
        """There is nothing more to tell."""
        self._outbox.close()


class Subscriptions:
    """The subscriptions of one connection (2026-07-28), each with the id of its request."""

    def __init__(self, connection: Connection, service: Service, teller: Teller, caller: Caller) -> None:
        self._caller = caller
        self._connection = connection
        self._service = service
        self._teller = teller
        self._open: dict[RequestId, Listening] = {}

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._open

    def begin(self, request_id: RequestId, params: Mapping[str, Any], client: Client) -> None:
        """Begin one; its acknowledgement goes out at once.

        Raises:
            ProtocolError: the request is not sound, or there are too many.
        """
        if len(self._open) >= MOST_LISTENING:
            raise ProtocolError(INTERNAL_ERROR, f"A connection may have {MOST_LISTENING} subscriptions.")
        listening = self._service.listen(request_id, params, client, self._caller)
        self._open[request_id] = listening
        self._teller.now(listening.outbox)
        listening.outbox.on_message = partial(self._teller.tell, listening.outbox, partial(self._told, listening))

    def cancel(self, request_id: RequestId) -> bool:
        """End one for its client, without a word; whether there was one."""
        listening = self._open.pop(request_id, None)
        if listening is None:
            return False
        listening.outbox.close(drop=True)
        listening.end()
        return True

    def end(self) -> None:
        """End all of them, as a server does."""
        for listening in tuple(self._open.values()):
            listening.stop()
            self._teller.now(listening.outbox)
            self._told(listening)

    def _told(self, listening: Listening) -> None:
        """All that waited has been told; if the server has ended it, the client is told that too, as stdio has it."""
        request_id = listening.request_id
        if listening.outbox.closed and self._open.get(request_id) is listening:
            del self._open[request_id]
            self._connection.send(jsonrpc_notification("notifications/cancelled", {"requestId": request_id}))
