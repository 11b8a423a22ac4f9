"""The routing of HTTP requests, and the policies that admit callers. Independent of any HTTP server."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from pegboard.errors import ConfigError
from pegboard.plugin.routes import DEFAULT_POLICY, Authenticator, Route
from pegboard.plugin.transports import ProtocolContext
from pegboard.routing.operator_token import PROOF, PROOF_WITHOUT_HEADER, OperatorToken
from pegboard.types.callers import Caller
from pegboard.types.http import EventStream, Request, Response

logger = logging.getLogger("pegboard")

_MCP_METHODS = frozenset(("POST", "GET", "DELETE"))
_NO_AUTHENTICATOR = Response(403, b"No authenticator is configured for this, so it is closed.\n", "text/plain")

OPEN = frozenset(("public", DEFAULT_POLICY))
"""Policies that need no authenticator. The policy "mcp" admits every caller only while it has no authenticator."""

Routes = Mapping[str, Mapping[str, Route]]
"""Routes by path, then by method."""


async def respond(
    routes: Routes, request: Request, host: ProtocolContext, operator: OperatorToken | None = None
) -> Response | EventStream:
    """Run the route of a request and return its response. Raise no exception except `asyncio.CancelledError`."""
    if operator is not None:
        request = operator.recognize(request)
    methods = routes.get(request.path) or routes.get(f"{request.path.rpartition('/')[0]}/*")
    if methods is None:
        return _nothing_here(routes, request)
    route = methods.get("GET" if request.method == "HEAD" else request.method) or methods.get("*")
    if route is None:
        return Response(405, headers={"Allow": ", ".join(sorted(methods))})
    try:
        answer = route.handler(request, host)
        if not isinstance(answer, (Response, EventStream)):
            answer = await answer
        return await _head(answer) if request.method == "HEAD" and isinstance(answer, EventStream) else answer
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - the route of a plugin
        return _failed(request, error)


def endpoint_of(routes: Routes) -> str:
    """Return the path of MCP, which alone has all these methods, for callers of the default policy; "" without one."""
    paths = (path for path, on in routes.items() if on.keys() >= _MCP_METHODS and on["POST"].auth == DEFAULT_POLICY)
    return next(paths, "")


def _nothing_here(routes: Routes, request: Request) -> Response:
    """Return the response to a path without routes. The response at the root names the endpoint."""
    endpoint = endpoint_of(routes)
    if endpoint and request.path == "/" and request.method in ("GET", "HEAD"):
        return Response(200, f"The endpoint is {endpoint}: give its URL to an MCP client.\n".encode(), "text/plain")
    return Response(404, b"There is nothing here.\n", "text/plain")


def _failed(request: Request, error: BaseException) -> Response:
    """Log an exception, and return the response with its error id."""
    error_id = secrets.token_hex(4)
    about = {"peer": request.peer, "data": {"error_id": error_id}}
    logger.error("error %s in %s %s", error_id, request.method, request.path, exc_info=error, extra=about)
    return Response(500, f"Internal error {error_id}\n".encode(), "text/plain")


async def _head(answer: EventStream) -> Response:
    """Return the response to a HEAD request for an event stream. The stream is not started."""
    close = getattr(answer.messages, "aclose", None)
    if close is not None:
        await close()
    return Response(headers={**answer.headers, "Content-Type": "text/event-stream"})


def protect(route: Route, authenticators: Iterable[Authenticator]) -> Route | None:
    """Return a route that admits only callers of its policy, or None if its policy admits no caller.

    Args:
        route: the route.
        authenticators: the authenticators of all policies.
    """
    own = [authenticator for authenticator in authenticators if authenticator.policy == route.auth]
    if own and route.auth != "public":
        return route._replace(handler=GuardedHandler(route.handler, PolicyAuthenticators(own)).answer)
    return route if route.auth in OPEN else None


async def authenticate(
    authenticators: Iterable[Authenticator], policy: str, request: Request, operator: OperatorToken | None = None
) -> Caller | Response:
    """Return the caller that a policy admits, or the response that refuses the request."""
    if operator is not None:
        request = operator.recognize(request)
    own = [authenticator for authenticator in authenticators if authenticator.policy == policy]
    if own and policy != "public":
        admitted = await PolicyAuthenticators(own).ask(request)
        return admitted if isinstance(admitted, Response) else admitted[0]
    return request.caller if policy in OPEN else _NO_AUTHENTICATOR


def check_reach(
    address: str, authenticators: Sequence[Authenticator], routes: Routes, *, local: bool, policy: str | None = None
) -> None:
    """Reject an address that other machines can reach, unless all routes may be served to other machines.

    Log a warning about authenticators that admit only the operator.

    Args:
        address: the address.
        authenticators: the authenticators of all policies.
        routes: the routes that are served over HTTP.
        local: True if only programs on this machine can reach the address.
        policy: the policy of message streams at the address, or None.

    Raises:
        ConfigError: an authenticator admits only the operator, or a policy has no authenticator.
    """
    restricted = [(authenticator, reason) for authenticator in authenticators if (reason := authenticator.only_local)]
    if not local:
        reasons = [reason for _, reason in restricted] + _unguarded(authenticators, routes, policy)
        if reasons:
            raise ConfigError([f"other machines can reach {address}, and {reason}" for reason in reasons])
    for authenticator, reason in restricted:
        warning = "%s admits the operator alone: %s. To prove that you are the operator, %s"
        logger.warning(warning, address, reason, proof_of([authenticator]))


def public_hosts(authenticators: Iterable[Authenticator]) -> frozenset[str]:
    """Return the host names that clients use for the routes."""
    return frozenset(host for authenticator in authenticators for host in authenticator.public_hosts)


def _unguarded(authenticators: Iterable[Authenticator], routes: Routes, policy: str | None) -> list[str]:
    """For each policy that requires an authenticator but has none, return a message with the fix."""
    guarded = {"public", *(authenticator.policy for authenticator in authenticators)}
    served = [route for methods in routes.values() for route in methods.values() if route.auth not in guarded]
    wanted: dict[tuple[str, str], str] = {}
    for route in served:
        if not route.anonymous:
            wanted.setdefault((route.auth, route.advice), route.path)
    if policy is not None and policy not in guarded and all(route.auth != policy for route in served):
        wanted[policy, ""] = "its message streams"
    return [
        f"no authenticator is configured for {place} (policy {name!r}): "
        + (advice or f"turn on a plugin that authenticates the callers of {name!r}")
        for (name, advice), place in wanted.items()
    ]


# --- The authenticators of a route policy, and the handlers that they protect.

Answer: TypeAlias = Response | EventStream | Awaitable[Response | EventStream]

_CHALLENGED = (401, 403)


class PolicyAuthenticators:
    """The authenticators of one policy. The first authenticator that recognizes the caller admits the request.

    If no authenticator recognizes the caller, the response is the most specific refusal.

    Args:
        authenticators: the authenticators, at least one.
    """

    def __init__(self, authenticators: Sequence[Authenticator]) -> None:
        self._authenticators = authenticators
        self._for_others = [authenticator for authenticator in authenticators if not authenticator.only_local]

    def asked(self, request: Request) -> Sequence[Authenticator]:
        """Return the authenticators that may admit a request."""
        return self._authenticators if request.caller.trusted else self._for_others

    def known(self, request: Request) -> Caller | None:
        """Return the caller if the first authenticator recognizes the caller without waiting."""
        asked = self.asked(request)
        return asked[0].known_caller(request) if asked else None

    async def ask(self, request: Request) -> tuple[Caller, Authenticator] | Response:
        """Return the caller and the authenticator that recognized the caller, or a refusal."""
        refusals: list[tuple[Response, Authenticator]] = []
        authenticators = self.asked(request)
        if not authenticators:
            proof = proof_of(self._authenticators)
            text = f"Only the operator may use this. To prove that you are the operator, {proof}.\n"
            return Response(403, text.encode(), "text/plain")
        for authenticator in authenticators:
            answer = await authenticator.authenticate(request)
            if isinstance(answer, Caller):
                return answer, authenticator
            refusals.append((answer, authenticator))
        refusals.sort(key=_says_little)
        refusal, whose = refusals[0]
        completed = _completed(refusal, self._others(whose))
        if completed.status != 401:
            return completed
        return _with_all_schemes(completed, [response for response, _ in refusals])

    def complete(self, answer: Response, first: Authenticator) -> Response:
        """Return a response with the challenge parameters of all authenticators."""
        return _completed(answer, [first, *self._others(first)])

    def _others(self, authenticator: Authenticator) -> list[Authenticator]:
        return [other for other in self._authenticators if other is not authenticator]


class GuardedHandler:
    """The handler of a route, protected by the authenticators of its policy.

    Args:
        handler: the handler of the route.
        authenticators: the authenticators of its policy.
    """

    def __init__(
        self, handler: Callable[[Request, ProtocolContext], Answer], authenticators: PolicyAuthenticators
    ) -> None:
        self._handler = handler
        self._authenticators = authenticators

    async def answer(self, request: Request, host: ProtocolContext) -> Response | EventStream:
        """Return the response to a request."""
        caller = self._authenticators.known(request)
        authenticator: Authenticator | None = None
        if caller is None:
            admitted = await self._authenticators.ask(request)
            if isinstance(admitted, Response):
                return admitted
            caller, authenticator = admitted
        answer = self._admit(caller, request, host)
        if not isinstance(answer, (Response, EventStream)):
            answer = await answer
        if isinstance(answer, EventStream) or answer.status not in _CHALLENGED:
            return answer
        return self._authenticators.complete(answer, authenticator or self._authenticators.asked(request)[0])

    def _admit(self, caller: Caller, request: Request, host: ProtocolContext) -> Answer:
        if request.notes is not None:
            request.notes["caller"] = caller
        # faster than `_replace`
        method, path, query, headers, body, channel, peer, notes, _, forwarded_host = request
        admitted = Request(method, path, query, headers, body, caller, peer, notes, channel, forwarded_host)
        return self._handler(admitted, host)


def proof_of(authenticators: Iterable[Authenticator]) -> str:
    """Return the proofs of the operator that work in addition to the authenticators' own tokens."""
    return PROOF_WITHOUT_HEADER if any(authenticator.needs_token for authenticator in authenticators) else PROOF


def _completed(answer: Response, authenticators: Iterable[Authenticator]) -> Response:
    """Return a refusal with the challenge parameters of all authenticators."""
    for authenticator in authenticators:
        if answer.status in _CHALLENGED:
            answer = authenticator.complete(answer)
    return answer


def _with_all_schemes(answer: Response, refusals: Iterable[Response]) -> Response:
    """Return a refusal with the challenges of other refusals whose schemes it lacks (RFC 9110, section 11.6.1)."""
    challenges = answer.headers.get("WWW-Authenticate", "")
    for refusal in refusals:
        added = refusal.headers.get("WWW-Authenticate", "") if refusal.status == 401 else ""
        if added and not _has_scheme(challenges, re.split("[ ,]", added, maxsplit=1)[0]):
            challenges += f", {added}" if challenges else added
    return answer._replace(headers={**answer.headers, "WWW-Authenticate": challenges}) if challenges else answer


def _has_scheme(challenges: str, scheme: str) -> bool:
    unquoted = re.sub(r'"(\\.|[^"\\])*"', '""', challenges)
    return re.search(rf"(?:^|,) *{re.escape(scheme)}(?=[ ,]|$)", unquoted, re.IGNORECASE) is not None


def _says_little(refused: tuple[Response, Authenticator]) -> tuple[int, int]:
    """Return a sort key for refusals. A refusal by the authenticator that recognized the token comes first."""
    status = refused[0].status
    challenge = refused[0].headers.get("WWW-Authenticate", "")
    kind = 0 if status == 403 else 1 if status >= 500 else 3 if status == 401 else 2
    return kind, -challenge.count('="')
