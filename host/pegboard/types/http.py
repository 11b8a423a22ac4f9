"""Neutral HTTP requests and responses, between HTTP servers and route handlers.

A server does not know the served protocols. A route handler does not know the server.
"""

from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pegboard.types.callers import ANONYMOUS, EMPTY, Caller

if TYPE_CHECKING:
    pass


class Headers(Protocol):
    """The header fields of a message. Names are case-insensitive."""

    def get(self, key: str, /) -> str | None:
        """Return the first field of that name, or None."""
        ...

    def getall(self, key: str, /, default: Sequence[str]) -> Sequence[str]:
        """Return every field of that name, in order."""
        ...


class Request(NamedTuple):
    """An HTTP request with its body, which the server has read within its limits.

    Attributes:
        method: "GET", "POST" and so on.
        path: the path, percent-decoded, without the query.
        query: the query parameters; the first of each name.
        headers: the header fields.
        body: the whole body.
        caller: the operator if the channel proves it, else anonymous.
        peer: the client's address, for logs.
        notes: a mapping that the server reads afterwards: the host stores the admitted `caller` in it; None for none.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Headers
    body: bytes = b""
    caller: Caller = ANONYMOUS
    peer: str = ""
    notes: MutableMapping[str, Any] | None = None


class Response(NamedTuple):
    """A complete response.

    Attributes:
        status: the status code.
        body: the body; empty for none.
        content_type: its media type.
        headers: further header fields.
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
    """A response of server-sent events. It starts at once and ends with its messages.

    The server keeps a silent stream alive with comments.

    Attributes:
        messages: the events, or only their `data`, without line breaks. The server calls `aclose`, if there is one,
            when the stream has ended or the client is gone.
        headers: further header fields.
        cut: returns a last message for a stream that the server ends early because it stops.
    """

    messages: AsyncIterator[bytes | ServerSentEvent]
    headers: Mapping[str, str] = EMPTY
    cut: Callable[[], bytes] | None = None
