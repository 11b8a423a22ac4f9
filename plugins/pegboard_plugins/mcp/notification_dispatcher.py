"""Client notifications, dispatched to the plugins that handle them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from pegboard.plugin import INVALID_REQUEST, ProtocolContext, ProtocolError
from pegboard.types import EMPTY, Call, Caller, Client, Failure
from pegboard_plugins.mcp.plugin_extensions import is_served, require_extension
from pegboard_plugins.mcp.revisions import CLIENT_CAPABILITIES, PROTOCOL_VERSION, STATELESS_REVISIONS
from pegboard_plugins.mcp.session import Session

MAX_RUNNING_NOTIFICATIONS = 100
"""How many notifications of one connection, or of all of HTTP, are dealt with at once; more are dropped."""

logger = logging.getLogger("pegboard.mcp")


def _client(params: Any, session: Session | None) -> Client:
    """Who sent a notification: the session's client, unless it says otherwise or there is no session (2026-07-28)."""
    meta = params.get("_meta") if type(params) is dict else None
    if type(meta) is not dict:
        meta = {}
    if session is not None and PROTOCOL_VERSION not in meta:
        return session.client
    capabilities = meta.get(CLIENT_CAPABILITIES)
    return Client(revision=STATELESS_REVISIONS[0], capabilities=capabilities if type(capabilities) is dict else EMPTY)


class NotificationDispatcher:
    """Deals with the notifications that plugins want to hear of. Nothing is answered, whatever becomes of them."""

    def __init__(self, host: ProtocolContext) -> None:
        self._host = host
        self._running: set[asyncio.Task[None]] = set()

    def dispatch_notification(self, name: str, params: Any, caller: Caller, session: Session | None) -> None:
        """Begin to deal with a notification, if there is anybody to deal with it."""
        if not self._host.hears(name):
            return
        contributed = self._host.contributed
        handler = contributed.notifications.get(name)
        client = _client(params, session)
        if handler is not None and not is_served(handler, contributed, client.revision):
            return
        try:
            if handler is not None:
                require_extension(contributed, handler.extension, client)
            if len(self._running) >= MAX_RUNNING_NOTIFICATIONS:
                raise ProtocolError(INVALID_REQUEST, f"{MAX_RUNNING_NOTIFICATIONS} notifications are being dealt with")
            if not isinstance(params, Mapping | None):
                raise ProtocolError(INVALID_REQUEST, "params is no object")
        except ProtocolError as error:
            logger.debug("%s of %s is dropped: %s", name, client.name or "a client", error)
            return
        call = Call(
            method=name,
            params=params or {},
            caller=caller,
            client=client,
            session_id=None if session is None else session.id,
        )
        task = asyncio.create_task(self._deal_with(call))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _deal_with(self, call: Call) -> None:
        outcome = await self._host.dispatch(call)
        if isinstance(outcome, Failure):
            logger.debug("%s of %s came to: %s", call.method, call.client.name or "a client", outcome.error)

    def end(self) -> None:
        """Cancel what is still running."""
        for task in self._running:
            task.cancel()
