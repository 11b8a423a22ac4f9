"""The seam between HTTP servers and those who answer requests: routes, and neutral requests and responses.

A server knows nothing of what is served, a route's handler nothing of the server.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from pegboard.contracts.callers import ANONYMOUS, NOTHING, Caller

if TYPE_CHECKING:
    from pegboard.contracts.streams import ProtocolHost


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
    headers: Mapping[str, str] = NOTHING


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
    headers: Mapping[str, str] = NOTHING
    cut: Callable[[], bytes] | None = None


RouteHandler: TypeAlias = "Callable[[Request, ProtocolHost], Awaitable[Response | EventStream]]"
"""Answers a request; cancelled when the peer is gone before the response has begun."""


class Authenticator(Protocol):
    """Says who sends the requests to the routes of one policy.

    One whose attribute `only_local` is a text, the reason, is good for the operator alone: a transport that others can
    reach does not start with it, and only requests of a proven operator get to it. If it needs no token, its attribute
    `needs_token` is False, so that messages name the operator token as a proof. One with a method
    `complete(response)` is given what a route answers with 401 or 403, and what other authenticators of the policy do,
    and gives the response that goes out, with more in its challenge. Of several that refuse a request, the one that
    says most is heard: 403, then 5xx, and 401 last.

    One with an attribute `public_hosts` names the hosts by which clients call its routes, such as "tools.example.com":
    HTTP servers take them for their own, so that the operator does not list them twice.

    Attributes:
        policy: what routes name as their `auth`.
    """

    policy: str

    async def authenticate(self, request: Request) -> Caller | Response:
        """Who sends a request, or the response that refuses it: 401 with a challenge (RFC 9110, 11.6.1), as a rule."""
        ...


class Route(NamedTuple):
    """What answers at a path.

    Attributes:
        method: the HTTP method; "*" for those that no other route of the path answers.
        path: the exact path, such as "/mcp".
        handler: answers it.
        auth: the policy that admits callers, of an authenticator: "mcp" is that of the MCP endpoint, which is open
            where nobody authenticates for it; "public" admits everybody.
        anonymous: without an authenticator the route may still be served beyond this machine; else the host refuses to
            start.
        advice: how the operator allows that or avoids it, for the host's message.
    """

    method: str
    path: str
    handler: RouteHandler
    auth: str = "mcp"
    anonymous: bool = False
    advice: str = ""
