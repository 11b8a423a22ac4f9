"""What plugins add to the protocol, as one revision has it: what is advertised, and who may call what."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, TypeVar

from pegboard.plugin import (
    METHOD_NOT_FOUND,
    Contributions,
    Extension,
    Method,
    NotificationHandler,
    ProtocolError,
    Subscription,
    Topic,
    as_failure,
    require_declared,
)
from pegboard.types import Call, Client, Notify

T = TypeVar("T", Method, NotificationHandler)


def contributed_capabilities(contributed: Contributions, revision: str) -> dict[str, Any]:
    """What is advertised of it in a revision (MCP ServerCapabilities)."""
    found: dict[str, Any] = {}
    for identifier, extension in contributed.extensions.items():
        if _exists(extension, revision):
            place = "experimental" if extension.experimental else "extensions"
            found.setdefault(place, {})[identifier] = dict(extension.settings)
    for method in contributed.methods.values():
        if method.capability and is_served(method, contributed, revision):
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
    if method is None or not is_served(method, contributed, client.revision):
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {name}")
    require_extension(contributed, method.extension, client)
    return method


def subscribe_topics(contributed: Contributions, call: Call, wanted: Mapping[str, Any], notify: Notify) -> Subscription:
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
            require_extension(contributed, topic.extension, client)
            found[name] = topic
    return found


def require_extension(contributed: Contributions, identifier: str | None, client: Client) -> None:
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


def is_served(thing: T, contributed: Contributions, revision: str) -> bool:
    """Return True if a revision has a method or notification, and the extension that it belongs to."""
    extension = None if thing.extension is None else contributed.extensions[thing.extension]
    return _exists(thing, revision) and (extension is None or _exists(extension, revision))
