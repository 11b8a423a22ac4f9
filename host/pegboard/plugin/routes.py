"""HTTP routes and authenticators: the contracts between HTTP servers and the plugins that answer requests."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from pegboard.types.callers import Caller
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.plugin.transports import ProtocolContext


DEFAULT_POLICY = "mcp"
"""The policy of routes that name none, and of message streams. Routes of this policy are open without authenticator."""

RouteHandler: TypeAlias = "Callable[[Request, ProtocolContext], Awaitable[Response | EventStream]]"
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
    auth: str = DEFAULT_POLICY
    anonymous: bool = False
    advice: str = ""
