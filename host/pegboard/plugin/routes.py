"""The contracts of HTTP routes and authenticators."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from pegboard.types.callers import Caller
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.plugin.transports import ProtocolContext


DEFAULT_POLICY = "mcp"
"""The policy of routes that name none, and of message streams. Its routes are open while no authenticator serves it."""

RouteHandler: TypeAlias = "Callable[[Request, ProtocolContext], Awaitable[Response | EventStream]]"
"""Respond to a request. The host cancels the handler if the client is gone before the response has begun.

Each request has its own task. If it raises, the client receives status 500 with an error id.
"""


class Authenticator(Protocol):
    """Authenticates the requests to the routes of one policy. It lives as long as the host.

    Optional members:

    - `only_local: str`: a reason why the authenticator serves only the operator. A transport that other machines can
      reach does not start with it, and it receives only requests of a proven operator.
    - `needs_token: bool`: False if an `only_local` authenticator needs no token. Messages then name the operator token
      as proof.
    - `complete(response: Response) -> Response`: adds to the challenge of a response with status 401 or 403, from a
      route or from another authenticator of the policy.
    - `public_hosts: Iterable[str]`: the host names in the URLs of its routes, such as "tools.example.com". HTTP servers
      accept them in the `Host` header.

    If several authenticators refuse a request, the host sends the most specific response: 403, then 5xx, then 401.

    Attributes:
        policy: the policy that routes name as their `auth`.
    """

    policy: str

    async def authenticate(self, request: Request) -> Caller | Response:
        """Return the caller of a request, or a response that refuses it.

        The refusal is usually 401 with a challenge (RFC 9110, 11.6.1). The method runs on the event loop, several
        requests at once. If it raises, the request is refused.
        """
        ...


class Route(NamedTuple):
    """A route: a path, a method and a handler. Construct it by keyword.

    Attributes:
        method: the HTTP method; "*" for all methods without another route at this path.
        path: the exact path, such as "/mcp".
        handler: responds to the requests.
        auth: the policy whose authenticators admit callers. The default policy is open while it has no authenticator;
            "public" admits every caller.
        anonymous: True if the route may be served beyond this machine without an authenticator. Otherwise the host does
            not start.
        advice: how the operator allows or avoids that, for the host's message.
    """

    method: str
    path: str
    handler: RouteHandler
    auth: str = DEFAULT_POLICY
    anonymous: bool = False
    advice: str = ""
