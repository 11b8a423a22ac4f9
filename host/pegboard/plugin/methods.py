"""Additions to the protocol: methods, notifications, topics, and the extensions that they belong to.

Each exists in a range of protocol revisions: `since` is the first and `until` the last, "" for no bound. Construct the
records by keyword.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, Notify, Outcome
from pegboard.types.catalogue import Resource, Tool

Describe: TypeAlias = Callable[[Tool | Resource, Any, Mapping[str, Resource]], Mapping[str, Any] | None]
"""Return the entries of a tool or resource in `_meta` for an extension, or None if there are none.

The arguments are the tool or resource, the author's value for the extension (None for none), and the resources by URI.
The function runs in the thread that adds the item, and must not block. It raises `ToolDefinitionError` for an invalid
value.
"""


class Extension(NamedTuple):
    """An extension of the protocol, or an experiment (MCP capabilities `extensions` and `experimental`).

    It is advertised while its plugin runs and all its methods, handlers and topics can be served.

    Attributes:
        identifier: "<prefix>/<name>" such as "com.example/jobs". An experiment needs no prefix.
        settings: the settings that clients read, JSON-ready.
        experimental: True to advertise it as an experiment.
        negotiated: True if only clients that declare the extension may call its methods.
        result_types: the types of results that it defines in addition to "complete".
        describe: returns its entries in the `_meta` of tools and resources. The extension is advertised only while
            there are any.
        since: the first revision.
        until: the last revision.
        option: the option of `@kit.tool` and `@kit.resource` whose value `describe` receives: "ui".
            `extensions={identifier: value}` is the general form.
        mime_types: default MIME types of resources, by the beginning of the URI, such as `{"ui://": "text/html"}`.
    """

    identifier: str
    settings: Mapping[str, Any] = EMPTY
    experimental: bool = False
    negotiated: bool = True
    result_types: frozenset[str] = frozenset()
    describe: Describe | None = None
    since: str = ""
    until: str = ""
    option: str | None = None
    mime_types: Mapping[str, str] = EMPTY


MethodHandler: TypeAlias = Callable[[Call], Awaitable[Outcome]]
"""Respond to a call, usually with a `MethodResult`. The host may cancel the task of the request.

A typed error such as `ProtocolError(-32602, ...)` is sent to the client. Any other exception is masked and logged.
"""


class Method(NamedTuple):
    """A JSON-RPC method. Middleware runs around it as around any other.

    Attributes:
        name: the name, such as "jobs/get". Names of the specification and names that begin with "rpc." are refused.
        handler: responds to the calls.
        extension: the identifier of its extension; None for a method that every client may call.
        capability: the path in the server's capabilities that advertises it, such as ("acme", "jobs").
        name_parameter: the string parameter that HTTP clients repeat in the header `Mcp-Name` (2026-07-28).
        since: the first revision.
        until: the last revision.
    """

    name: str
    handler: MethodHandler
    extension: str | None = None
    capability: tuple[str, ...] = ()
    name_parameter: str | None = None
    since: str = ""
    until: str = ""


class NotificationHandler(NamedTuple):
    """A handler of a client's notification. There is no response, even if the handler raises.

    Attributes:
        name: the name, such as "notifications/jobs/seen". Names of the specification are refused.
        handler: called in a task with the call, which has the notification's parameters.
        extension: the identifier of its extension; None for none.
        since: the first revision.
        until: the last revision.
    """

    name: str
    handler: Callable[[Call], Awaitable[None]]
    extension: str | None = None
    since: str = ""
    until: str = ""


class Subscription(NamedTuple):
    """An active subscription.

    Attributes:
        honoured: the part of the request that is subscribed, JSON-ready, for the acknowledgement.
        close: ends the subscription. The host calls it once, on the event loop.
    """

    honoured: Any
    close: Callable[[], None]


Subscribe: TypeAlias = Callable[[Call, Any, Notify], Subscription | None]
"""Begin a subscription and return it, or None if nothing of the request is available.

The arguments are the call, the requested value, and a function that sends a notification on the subscription's stream.
It runs on the event loop and must not block. It raises `ProtocolError` for an invalid request.
"""


class Topic(NamedTuple):
    """A subject of `subscriptions/listen` that the specification does not define (2026-07-28).

    Attributes:
        name: the member of the request's `notifications`, such as "jobIds".
        extension: the identifier of its extension.
        subscribe: begins a subscription.
    """

    name: str
    extension: str
    subscribe: Subscribe


class Contributions(NamedTuple):
    """The additions of all plugins that are served, by name."""

    extensions: Mapping[str, Extension] = EMPTY
    methods: Mapping[str, Method] = EMPTY
    notifications: Mapping[str, NotificationHandler] = EMPTY
    topics: Mapping[str, Topic] = EMPTY
