"""What plugins add to the protocol, as one revision has it: what is advertised, and who may call what."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, TypeVar

from pegboard.plugin import (
    Contributions,
    Extension,
    Method,
    NotificationHandler,
    ProtocolContext,
    ProtocolError,
    Subscription,
    Topic,
    as_failure,
    require_declared,
)
from pegboard.types import EMPTY, Call, Caller, Client, Failure, Notify
from pegboard_plugins.mcp.envelope import INVALID_REQUEST, METHOD_NOT_FOUND
from pegboard_plugins.mcp.revisions import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION
from pegboard_plugins.mcp.session import Session

MOST_HEARD = 100
"""How many notifications of one connection, or of all of HTTP, are dealt with at once; more are dropped."""

logger = logging.getLogger("pegboard.mcp")

T = TypeVar("T", Method, NotificationHandler)


def capabilities(contributed: Contributions, revision: str) -> dict[str, Any]:
    """What is advertised of it in a revision (MCP ServerCapabilities)."""
    found: dict[str, Any] = {}
    for identifier, extension in contributed.extensions.items():
        if _exists(extension, revision):
            place = "experimental" if extension.experimental else "extensions"
            found.setdefault(place, {})[identifier] = dict(extension.settings)
    for method in contributed.methods.values():
        if method.capability and _served(method, contributed, revision):
            node = found
            for part in method.capability:
                node = node.setdefault(part, {})
    return found


def require_method(contributed: Contributions, name: str, client: Client) -> Method:
    """The method of that name, for this client.

    Raises:
        ProtocolError: -32601, there is none in its revision; -32021, it belongs to an extension that the client does
            not declare.
    """
    method = contributed.methods.get(name)
    if method is None or not _served(method, contributed, client.revision):
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {name}")
    _require_declared(contributed, method.extension, client)
    return method


def subscribe(contributed: Contributions, call: Call, wanted: Mapping[str, Any], notify: Notify) -> Subscription:
    """Begin what a `subscriptions/listen` wants to hear of beyond what the specification has.

    Args:
        contributed: what plugins add to the protocol.
        call: the request.
        wanted: its `notifications`; what no plugin knows is left aside.
        notify: sends a notification on its stream.

    Returns:
        What is honoured, by the members of `wanted`, and how to end all of it.

    Raises:
        ProtocolError: -32021, it belongs to an extension that the client does not declare; or what a plugin says.
    """
    begun: dict[str, Subscription] = {}

    def close() -> None:
        while begun:
            begun.popitem()[1].close()

    try:
        for name, topic in _topics(contributed, wanted, call.client).items():
            subscribed = topic.subscribe(call, wanted[name], notify)
            if subscribed is not None:
                begun[name] = subscribed
    except BaseException as error:
        close()
        if isinstance(error, asyncio.CancelledError):
            raise
        raise as_failure(call, error).error from None
    return Subscription({name: one.honoured for name, one in begun.items()}, close)


def _topics(contributed: Contributions, wanted: Mapping[str, Any], client: Client) -> dict[str, Topic]:
    found = {}
    for name in wanted:
        topic = contributed.topics.get(name)
        if topic is not None and _exists(contributed.extensions[topic.extension], client.revision):
            _require_declared(contributed, topic.extension, client)
            found[name] = topic
    return found


def _require_declared(contributed: Contributions, identifier: str | None, client: Client) -> None:
    """Refuse what belongs to an extension that both sides must declare, where the client does not.

    Raises:
        ProtocolError: -32021, with the capability that is missing.
    """
    if identifier is None:
        return
    extension = contributed.extensions[identifier]
    if extension.negotiated:
        require_declared(client, extension)


def _exists(thing: Extension | Method | NotificationHandler, revision: str) -> bool:
    return thing.since <= revision and (not thing.until or revision <= thing.until)


def _served(thing: T, contributed: Contributions, revision: str) -> bool:
    extension = None if thing.extension is None else contributed.extensions[thing.extension]
    return _exists(thing, revision) and (extension is None or _exists(extension, revision))


def _client(params: Any, session: Session | None) -> Client:
    """Who sent a notification: the session's client, unless it says otherwise or there is no session (2026-07-28)."""
    meta = params.get("_meta") if type(params) is dict else None
    if type(meta) is not dict:
        meta = {}
    if session is not None and PROTOCOL_VERSION not in meta:
        return session.client
    capabilities = meta.get(CLIENT_CAPABILITIES)
    return Client(revision=MODERN[0], capabilities=capabilities if type(capabilities) is dict else EMPTY)


class Hearing:
    """Deals with the notifications that plugins want to hear of. Nothing is answered, whatever becomes of them."""

    def __init__(self, host: ProtocolContext) -> None:
        self._host = host
        self._running: set[asyncio.Task[None]] = set()

    def hear(self, name: str, params: Any, caller: Caller, session: Session | None) -> None:
        """Begin to deal with a notification, if there is anybody to deal with it."""
        if not self._host.hears(name):
            return
        contributed = self._host.contributed
        handler = contributed.notifications.get(name)
        client = _client(params, session)
        if handler is not None and not _served(handler, contributed, client.revision):
            return
        try:
            if handler is not None:
                _require_declared(contributed, handler.extension, client)
            if len(self._running) >= MOST_HEARD:
                raise ProtocolError(INVALID_REQUEST, f"{MOST_HEARD} notifications are being dealt with")
            if not isinstance(params, Mapping | None):
                raise ProtocolError(INVALID_REQUEST, "params is no object")
        except ProtocolError as error:
            logger.debug("%s of %s is dropped: %s", name, client.name or "a client", error)
            return
        call = Call(name, params or {}, caller, client, session_id=None if session is None else session.id)
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
