"""The seam between HTTP servers and those who answer requests: routes, and neutral requests and responses.

A server knows nothing of what is served, a route's handler nothing of the server.
"""

from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pegboard.types.callers import ANONYMOUS, EMPTY, Caller

if TYPE_CHECKING:
    pass


class Headers(Protocol):
    """A message's header fields; names in any case."""

    def get(self, key: str, /) -> str | None:
        """The first field of that name."""
        ...

    def getall(self, key: str, /, default: Sequence[str]) -> Sequence[str]:
        """Every field of that name, in order."""
        ...


class Request(NamedTuple):
    """An HTTP request whose body has been read, within the server's limits.

    Attributes:
        method: "GET", "POST" and so on.
        path: the path, percent-decoded, without the query.
        query: the query's parameters, the first of each name.
        headers: the header fields.
        body: the whole body.
        caller: who sent it, as far as the server can vouch for it: the operator if the channel proves that, else
            nobody.
        peer: the address it came from, for logs.
        notes: what the server wants to know afterwards, None for nothing: the host notes the admitted `caller`.
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
    """A whole response.

    Attributes:
        status: the status code.
        body: the body, empty for none.
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
        id: what a client that comes back names as the last it has seen, None for no id.
        retry_ms: after how long a client that lost the stream should come back, None to leave that to it.
    """

    data: bytes = b""
    id: str | None = None
    retry_ms: int | None = None


class EventStream(NamedTuple):
    """A response of server-sent events, begun at once and ended by the end of its messages.

    The server keeps a silent stream alive with comments.

    Attributes:
        messages: the events, or their `data` alone, without line breaks. The server calls `aclose`, where there is one,
            when the stream has ended or the peer is gone.
        headers: further header fields.
        cut: gives a last message for a stream that the server ends before its messages end, because it stops.
    """

    messages: AsyncIterator[bytes | ServerSentEvent]
    headers: Mapping[str, str] = EMPTY
    cut: Callable[[], bytes] | None = None
