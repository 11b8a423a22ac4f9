"""Additions to the protocol: methods, notification handlers, topics, and extensions that group them.

Each addition applies to a range of protocol revisions: `since` is the first revision, `until` is the last, and "" means
no bound. Construct the records by keyword.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pegboard.types.callers import EMPTY, Client
from pegboard.types.calls import Call, Notify, Outcome
from pegboard.types.catalogue import Resource, Tool

_MISSING_CLIENT_CAPABILITY = -32021
"""The MCP error code for a request that requires a capability that the client does not declare (2026-07-28)."""


class Extension(NamedTuple):
    """An extension of the protocol, or an experiment (MCP capabilities `extensions` and `experimental`).

    The host advertises the extension if its plugin runs and all its methods, handlers and topics can be served.

    Attributes:
        identifier: "<prefix>/<name>" such as "com.example/jobs". An experiment needs no prefix.
        settings: the settings that clients read, JSON-ready.
        experimental: True to advertise it as an experiment.
        negotiated: True if only clients that declare the extension may call its methods.
        result_types: the result types that the extension defines, besides "complete".
        describe: returns the extension's `_meta` entries for a tool or resource, or None for no entries. Its arguments
            are the tool or resource, the author's value for the extension (None if not set), and all resources by URI.
            It runs in the thread that adds the item, must not block, and raises `ToolDefinitionError` if the value is
            invalid. The host advertises the extension only while a tool or resource has entries.
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
    describe: Callable[[Tool | Resource, Any, Mapping[str, Resource]], Mapping[str, Any] | None] | None = None
    since: str = ""
    until: str = ""
    option: str | None = None
    mime_types: Mapping[str, str] = EMPTY

    def require(self, client: Client) -> None:
        """Raise an error if a client does not declare the extension.

        Raises:
            ProtocolError: -32021, with the missing capability.
        """
        if client.extension(self.identifier) is None:
            from pegboard.errors import ProtocolError  # a plugin needs no errors to start

            place = "experimental" if self.experimental else "extensions"
            message = f"This needs a client that declares the extension {self.identifier}."
            data: dict[str, Any] = {"requiredCapabilities": {place: {self.identifier: {}}}}
            raise ProtocolError(_MISSING_CLIENT_CAPABILITY, message, data)


class Method(NamedTuple):
    """A JSON-RPC method. Middleware runs around it as around the host's own methods.

    Attributes:
        name: the name, such as "jobs/get". Names of the specification and names that begin with "rpc." are refused.
        handler: responds to a call, usually with a `MethodResult`. The host may cancel the task of the request. The
            client receives a typed error such as `ProtocolError(-32602, ...)`. Any other exception is masked.
        extension: the identifier of its extension; None for a method that every client may call.
        capability: the path in the server's capabilities that advertises it, such as ("acme", "jobs").
        name_parameter: the string parameter that HTTP clients repeat in the header `Mcp-Name` (2026-07-28).
        since: the first revision.
        until: the last revision.
    """

    name: str
    handler: Callable[[Call], Awaitable[Outcome]]
    extension: str | None = None
    capability: tuple[str, ...] = ()
    name_parameter: str | None = None
    since: str = ""
    until: str = ""


class NotificationHandler(NamedTuple):
    """A handler for a notification from clients. The client receives no response, even if the handler raises.

    Attributes:
        name: the name, such as "notifications/jobs/seen". Names of the specification are refused.
        handler: called in a separate task. The call contains the notification's parameters.
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
        honoured: the accepted part of the request, JSON-ready. The acknowledgement contains it.
        close: ends the subscription. The host calls it once, on the event loop.
    """

    honoured: Any
    close: Callable[[], None]


class Topic(NamedTuple):
    """A topic for `subscriptions/listen` in addition to the specification's topics (2026-07-28).

    Attributes:
        name: the member of the request's `notifications`, such as "jobIds".
        extension: the identifier of its extension.
        subscribe: begins a subscription and returns it, or None if no requested item is available. Its arguments are
            the call, the requested value, and a function that sends a notification on the stream of the subscription.
            It runs on the event loop, must not block, and raises `ProtocolError` for an invalid request.
    """

    name: str
    extension: str
    subscribe: Callable[[Call, Any, Notify], Subscription | None]


class Contributions(NamedTuple):
    """The methods, handlers, topics and extensions that plugins add to the protocol, by name."""

    extensions: Mapping[str, Extension] = EMPTY
    methods: Mapping[str, Method] = EMPTY
    notifications: Mapping[str, NotificationHandler] = EMPTY
    topics: Mapping[str, Topic] = EMPTY
