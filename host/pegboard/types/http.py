"""Neutral HTTP requests and responses, between HTTP servers and route handlers.

HTTP servers are independent of protocols, and route handlers are independent of the server.
"""

from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple, Protocol

from pegboard.types.callers import ANONYMOUS, EMPTY, Caller


class Headers(Protocol):
    """The header fields of a message, which `header_fields` makes. Names are case-insensitive."""

    def get(self, key: str, /) -> str | None:
        """Return the value of the first field `name`. Return None if the field is missing."""

    def getall(self, key: str, /, default: Sequence[str]) -> Sequence[str]:
        """Return the values of all fields `name`, in order."""


class Request(NamedTuple):
    """An HTTP request with its body, which the server has read within its limits.

    Attributes:
        method: "GET", "POST" and so on.
        path: the path, percent-decoded, without the query.
        query: the query parameters. If a name is repeated, the first value.
        headers: the header fields, from the HTTP server or from `header_fields`.
        body: the whole body.
        caller: the operator if the channel proves it, else anonymous.
        peer: the client's address, for logs.
        notes: a mapping in which the host stores the admitted `caller` for the server; None if the server does not need
            it.
        channel: the `caller` before an authenticator admitted the request, to authenticate the request again.
        forwarded_host: the host that a trusted proxy forwards; "" if the header `Host` has the requested host.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Headers
    body: bytes = b""
    caller: Caller = ANONYMOUS
    peer: str = ""
    notes: MutableMapping[str, Any] | None = None
    channel: Caller = ANONYMOUS
    forwarded_host: str = ""


class Response(NamedTuple):
    """A complete response.

    Attributes:
        status: the status code.
        body: the body; empty for none.
        content_type: its media type.
        headers: further header fields. A field is repeated if `items()` of the mapping repeats its name.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = EMPTY


class ServerSentEvent(NamedTuple):
    """One event of a stream (HTML standard, server-sent events).

    Attributes:
        data: its data, without line breaks.
        id: the id that a reconnecting client sends as `Last-Event-ID`; None for no id.
        retry_ms: the delay before a client should reconnect, in milliseconds; None for the client's default.
    """

    data: bytes = b""
    id: str | None = None
    retry_ms: int | None = None


class EventStream(NamedTuple):
    """A response of server-sent events. It starts immediately and ends after the last message.

    The server keeps a silent stream alive with comments.

    Attributes:
        messages: the events, or their `data` as strings without line breaks. If `messages` has a method `aclose`, the
            server calls it when the stream has ended or the client has disconnected.
        headers: further header fields.
        cut: a function that returns the last message if the server stops before the stream ends.
    """

    messages: AsyncIterator[bytes | ServerSentEvent]
    headers: Mapping[str, str] = EMPTY
    cut: Callable[[], bytes] | None = None
