"""What plugins add to the protocol itself: methods, notifications they listen to, and extensions that these belong to.

Each may exist in some revisions of the protocol alone: `since` is the first of them and `until` the last, "" for no
bound. Revisions are dates, so that their text sorts as they do.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, Notify, Outcome
from pegboard.types.catalogue import Resource, Tool

Describe: TypeAlias = Callable[[Tool | Resource, Any, Mapping[str, Resource]], Mapping[str, Any] | None]
"""Says what clients read in the `_meta` of a tool or resource about an extension.

Given the tool or resource, what its author said for the extension (None for nothing), and the resources by URI. Gives
entries of `_meta`, None when the extension has nothing to do with it. Raises `ToolDefinitionError` for what cannot be.
"""


class Extension(NamedTuple):
    """An extension of the protocol, or an experiment with one (MCP capabilities `extensions` and `experimental`).

    It is on while its plugin runs and everything that belongs to it can be served; else nothing of it is advertised.

    Attributes:
        identifier: "<prefix>/<name>" such as "com.example/jobs"; the name of an experiment may lack the prefix.
        settings: what clients are told of it, JSON-ready.
        experimental: it is advertised among the experiments.
        negotiated: its methods are for clients that declare it too, each in the request or when its session began.
        result_types: the kinds of result that it defines beyond "complete".
        describe: what it says in the `_meta` of tools and resources; it is advertised only while there is one.
        since: the first revision it exists in.
        until: the last.
        option: the option of `@kit.tool` and `@kit.resource` with which authors say something for it, such as "ui";
            `describe` is given its value. `extensions={identifier: value}` says the same.
        mime_types: the MIME types of resources whose authors give none, by the beginning of the URI, such as
            `{"ui://": "text/html"}`.
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
"""Answers a call, mostly with a `MethodResult`; typed errors are answers too, such as `ProtocolError(-32602, ...)`."""


class Method(NamedTuple):
    """A JSON-RPC method; middleware stands around it as around any other.

    Attributes:
        name: such as "jobs/get". The specification's own and those that begin with "rpc." are refused.
        handler: answers it.
        extension: the identifier of the extension it belongs to, None for a method that anybody may call.
        capability: the path in the server's capabilities that says that it is there, such as ("acme", "jobs").
        name_parameter: the text parameter that HTTP clients repeat in the header `Mcp-Name` (2026-07-28).
        since: the first revision it exists in.
        until: the last.
    """

    name: str
    handler: MethodHandler
    extension: str | None = None
    capability: tuple[str, ...] = ()
    name_parameter: str | None = None
    since: str = ""
    until: str = ""


class NotificationHandler(NamedTuple):
    """What is to be done about a notification of the client; nothing is answered, whatever becomes of it.

    Attributes:
        name: such as "notifications/jobs/seen". The specification's own are refused.
        handler: is told of it; the call carries its parameters.
        extension: the identifier of the extension it belongs to, None for none.
        since: the first revision it exists in.
        until: the last.
    """

    name: str
    handler: Callable[[Call], Awaitable[None]]
    extension: str | None = None
    since: str = ""
    until: str = ""


class Subscription(NamedTuple):
    """A subscription that has begun.

    Attributes:
        honoured: as much of what was wanted as is given, JSON-ready, for the acknowledgement.
        close: ends it; called once.
    """

    honoured: Any
    close: Callable[[], None]


Subscribe: TypeAlias = Callable[[Call, Any, Notify], Subscription | None]
"""Begins to tell a stream of news: given the call, what it wants, and what sends a notification on its stream.

Gives None when nothing of what is wanted can be had. Raises `ProtocolError` for what nobody could want.
"""


class Topic(NamedTuple):
    """Something that `subscriptions/listen` can be asked for beyond what the specification has (2026-07-28).

    Attributes:
        name: the member of the request's `notifications`, such as "jobIds".
        extension: the identifier of the extension it belongs to.
        subscribe: begins a subscription.
    """

    name: str
    extension: str
    subscribe: Subscribe


class Contributions(NamedTuple):
    """Everything of the kind that plugins contributed and that is served, by name."""

    extensions: Mapping[str, Extension] = EMPTY
    methods: Mapping[str, Method] = EMPTY
    notifications: Mapping[str, NotificationHandler] = EMPTY
    topics: Mapping[str, Topic] = EMPTY
