"""Extensions, methods and topics of plugins in one revision: advertised capabilities, and checks of clients."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from pegboard.plugin import (
    Contributions,
    Extension,
    Method,
    NotificationHandler,
    ProtocolError,
    Subscription,
    Topic,
    as_failure,
)
from pegboard.types import Call, Client, Notify
from pegboard_plugins.support.jsonrpc import METHOD_NOT_FOUND

_NO_TOPICS: Final = Subscription({}, lambda: None)


def contributed_capabilities(contributed: Contributions, revision: str) -> dict[str, Any]:
    """Return the capabilities that plugins add in a revision (MCP ServerCapabilities)."""
    capabilities: dict[str, Any] = {}
    for identifier, extension in contributed.extensions.items():
        if _exists(extension, revision):
            place = "experimental" if extension.experimental else "extensions"
            capabilities.setdefault(place, {})[identifier] = dict(extension.settings)
    for method in contributed.methods.values():
        if method.capability and is_served(method, contributed, revision):
            node = capabilities
            for part in method.capability:
                node = node.setdefault(part, {})
    return capabilities


def require_method(contributed: Contributions, name: str, client: Client) -> Method:
    """Return the method called `name`.

    Raises:
        ProtocolError: -32601 if the client's revision does not have it; -32021 if it belongs to an extension that the
            client does not declare.
    """
    method = contributed.methods.get(name)
    if method is None or not is_served(method, contributed, client.revision):
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {name}")
    require_extension(contributed, method.extension, client)
    return method


def subscribe_topics(contributed: Contributions, call: Call, wanted: Mapping[str, Any], notify: Notify) -> Subscription:
    """Begin the plugins' part of a `subscriptions/listen` request.

    Args:
        contributed: the extensions of plugins.
        call: the request.
        wanted: the parameter `notifications` of the request. Unknown members are ignored.
        notify: a function that sends a notification on the stream of the subscription.

    Returns:
        The accepted members of `wanted`, and a function that ends the subscription.

    Raises:
        ProtocolError: -32021 if a topic belongs to an extension that the client does not declare, or a plugin's error.
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
    return (
        Subscription({name: subscription.honoured for name, subscription in begun.items()}, close)
        if begun
        else _NO_TOPICS
    )


def _topics(contributed: Contributions, wanted: Mapping[str, Any], client: Client) -> dict[str, Topic]:
    topics = {}
    for name in wanted:
        topic = contributed.topics.get(name)
        if topic is not None and _exists(contributed.extensions[topic.extension], client.revision):
            require_extension(contributed, topic.extension, client)
            topics[name] = topic
    return topics


def require_extension(contributed: Contributions, identifier: str | None, client: Client) -> None:
    """Reject a client that does not declare a negotiated extension.

    Raises:
        ProtocolError: -32021, with the missing capability.
    """
    if identifier is None:
        return
    extension = contributed.extensions[identifier]
    if extension.negotiated:
        extension.require(client)


def _exists(thing: Extension | Method | NotificationHandler, revision: str) -> bool:
    return thing.since <= revision and (not thing.until or revision <= thing.until)


def is_served(thing: Method | NotificationHandler, contributed: Contributions, revision: str) -> bool:
    """Return True if a revision has a method or notification and its extension."""
    extension = None if thing.extension is None else contributed.extensions[thing.extension]
    return _exists(thing, revision) and (extension is None or _exists(extension, revision))
