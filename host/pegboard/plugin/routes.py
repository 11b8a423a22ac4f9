"""The contracts for HTTP routes and authenticators."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

from pegboard.types.callers import Caller
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.plugin.transports import ProtocolContext


DEFAULT_POLICY = "mcp"
"""The default policy of routes and message streams: "mcp". Its routes are open unless an authenticator serves it."""


class Authenticator(ABC):
    """Authenticates requests to the routes of one policy. An authenticator lives as long as the host.

    If several authenticators refuse a request, the host sends the most specific response: 403, then 5xx, then 401. A
    401 also has the challenges of the others, one of each scheme.

    A reload keeps an authenticator whose distribution and settings have not changed. An authenticator that reads a file
    of its own, such as a list of users, must look for changes of the file itself.

    Attributes:
        policy: the name of the policy, as in `Route.auth`, or as a transport passes it to `TransportContext`.
        only_local: the reason why the authenticator serves only the operator. The host then does not start a transport
            that other machines can reach, and calls the authenticator only for requests of a proven operator.
        needs_token: False if an `only_local` authenticator needs no token. Messages then name the operator token as
            proof. True by default.
        public_hosts: the host names in the URLs of its routes, such as "tools.example.com". HTTP servers accept them in
            the `Host` header.
    """

    policy: str
    only_local: str | None = None
    needs_token: bool = True
    public_hosts: Collection[str] = ()

    @abstractmethod
    async def authenticate(self, request: Request) -> Caller | Response:
        """Return the caller of a request, or a response that refuses the request.

        The response is usually 401 with a challenge (RFC 9110, 11.6.1). The method runs on the event loop, for several
        requests concurrently. After an exception the client receives status 500 with an error id.

        While an event stream is open, its request may be authenticated again (`ProtocolContext.authenticate`). If the
        request is then refused with a status below 500, the stream ends.
        """

    def known_caller(self, request: Request) -> Caller | None:
        """Return the caller that `authenticate` would return, if no waiting is needed. Otherwise return None.

        An authenticator knows a caller, for example, if it has checked the token before. Without a known caller the
        host awaits `authenticate`, which takes more CPU time per request. Only the first authenticator is asked.
        """
        return None

    async def admits(self, caller: Caller) -> bool:
        """Return False if the rights of a caller have ended, because a login was revoked or the settings have changed.

        A plugin asks before it runs a call that no request brings, such as a task after a crash. Return True for
        callers of other authenticators, and if only the expiry in `caller` limits the rights.

        An authenticator knows its own callers by the `issuer` that it gives them. Without one, it cannot tell its user
        `ada` from that of another authenticator without an issuer.
        """
        return True

    def complete(self, response: Response) -> Response:
        """Add to the challenge of a response with status 401 or 403, from a route or another authenticator.

        An authenticator whose scheme is not `Bearer` puts its challenge in front of the others:
        `Basic realm="tools", Bearer`. If it is the only authenticator of its policy, it replaces them: MCP answers 403
        with `Bearer error="insufficient_scope"` to callers of each scheme, and no bearer token would help.
        """
        return response


class Route(NamedTuple):
    """A route: a path, a method and a handler. Construct it by keyword.

    Attributes:
        method: the HTTP method. "*" means all methods for which the path has no other route.
        path: the exact path, such as "/mcp". `*` as its last segment stands for any that has no other route.
        handler: responds to the requests, with the host as protocols see it. The host cancels it if the client
            disconnects before the response begins. Each request runs in its own task. A handler that is no async
            function must not block; it returns the response or an awaitable. If the handler raises, the client receives
            status 500 with an error id.
        auth: the policy whose authenticators admit callers. The default policy, "mcp", is open if it has no
            authenticator. The policy "public" admits every caller.
        anonymous: True if the route may be served to other machines without an authenticator. If False, the host does
            not start in this case. `[plugins.mcp] anonymous` does not apply to routes of other plugins.
        advice: the fix that the host's message then suggests to the operator, such as "set [plugins.orders] token".
    """

    method: str
    path: str
    handler: "Callable[[Request, ProtocolContext], Response | EventStream | Awaitable[Response | EventStream]]"
    auth: str = DEFAULT_POLICY
    anonymous: bool = False
    advice: str = ""
