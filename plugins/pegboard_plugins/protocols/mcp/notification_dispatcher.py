"""Client notifications, dispatched to the plugins that handle them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from pegboard.plugin import ProtocolContext, ProtocolError
from pegboard.types import Call, Caller, Client, Failure
from pegboard_plugins.protocols.mcp.plugin_extensions import is_served, require_extension
from pegboard_plugins.protocols.mcp.revisions import CLIENT_CAPABILITIES, PROTOCOL_VERSION, STATELESS_REVISIONS
from pegboard_plugins.protocols.mcp.session import Session
from pegboard_plugins.support.jsonrpc import INVALID_REQUEST

MAX_RUNNING_NOTIFICATIONS = 100
"""The largest number of notifications handled at once, per connection or for all of HTTP. More are dropped."""

logger = logging.getLogger("pegboard.mcp")


def _client(params: Any, session: Session | None) -> Client:
    """Return the sender of a notification: the session's client, or the client in its `_meta` (2026-07-28)."""
    meta = params.get("_meta") if type(params) is dict else None
    if type(meta) is not dict:
        meta = {}
    if session is not None and PROTOCOL_VERSION not in meta:
        return session.client
    capabilities = meta.get(CLIENT_CAPABILITIES)
    return Client(revision=STATELESS_REVISIONS[0], capabilities=capabilities if type(capabilities) is dict else {})


class NotificationDispatcher:
    """A dispatcher of client notifications to plugins. Notifications have no response."""

    def __init__(self, host: ProtocolContext, transport: str = "") -> None:
        self._host = host
        self._transport = transport
        self._running: set[asyncio.Task[None]] = set()

    def dispatch_notification(self, name: str, params: Any, caller: Caller, session: Session | None) -> None:
        """Start to handle a notification. Ignore it if no plugin handles it."""
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
                raise ProtocolError(
                    INVALID_REQUEST, f"the limit of {MAX_RUNNING_NOTIFICATIONS} running notifications is reached"
                )
            if not isinstance(params, Mapping | None):
                raise ProtocolError(INVALID_REQUEST, "params must be an object")
        except ProtocolError as error:
            logger.debug("%s of %s was dropped: %s", name, client.name or "a client", error)
            return
        call = Call(
            method=name,
            params=params or {},
            caller=caller,
            client=client,
            session_id=None if session is None else session.id,
            transport=self._transport,
        )
        task = asyncio.create_task(self._handle(call))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _handle(self, call: Call) -> None:
        outcome = await self._host.dispatch(call)
        if isinstance(outcome, Failure):
            logger.debug("%s of %s failed: %s", call.method, call.client.name or "a client", outcome.error)

    def end(self) -> None:
        for task in self._running:
            task.cancel()
