"""The routing of HTTP requests, and the policies that admit callers. Independent of any HTTP server."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Iterable, Mapping, Sequence

from pegboard.errors import ConfigError
from pegboard.plugin.routes import DEFAULT_POLICY, Authenticator, Route
from pegboard.plugin.transports import ProtocolContext
from pegboard.routing.bearer import PROOF, PROOF_WITHOUT_HEADER
from pegboard.routing.operator_token import OperatorToken
from pegboard.routing.refusal_log import RefusalLog, fingerprint
from pegboard.types.callers import Caller
from pegboard.types.http import EventStream, Request, Response

logger = logging.getLogger("pegboard")

_NO_AUTHENTICATOR = Response(403, b"No authenticator is configured for this, so it is closed.\n", "text/plain")

OPEN = frozenset(("public", DEFAULT_POLICY))
"""Policies that need no authenticator. The policy "mcp" admits every caller only while it has no authenticator."""

_CHALLENGED = (401, 403)
_WRONG = r'error_description="([^"]*)"'
_AUDIT = RefusalLog()

Routes = Mapping[str, Mapping[str, Route]]
"""Routes by path, then by method."""


async def respond(
    routes: Routes, request: Request, host: ProtocolContext, operator: OperatorToken | None = None
) -> Response | EventStream:
    """Run the route of a request and return its response. Raise no exception except `asyncio.CancelledError`."""
    answer = begin_response(routes, request, host, operator)
    return answer if isinstance(answer, Response | EventStream) else await answer


def begin_response(
    routes: Routes, request: Request, host: ProtocolContext, operator: OperatorToken | None = None
) -> Response | EventStream | Awaitable[Response | EventStream]:
    """Return the response of a request's route, or an awaitable if the route must wait.

    The awaitable raises no exception except `asyncio.CancelledError`.
    """
    if operator is not None:
        request = operator.recognize(request)
    methods = routes.get(request.path)
    if methods is None:
        return Response(404, b"There is nothing here.\n", "text/plain")
    route = methods.get("GET" if request.method == "HEAD" else request.method) or methods.get("*")
    if route is None:
        return Response(405, headers={"Allow": ", ".join(sorted(methods))})
    try:
        answer = route.handler(request, host)
    except BaseException as error:  # noqa: BLE001 - the route of a plugin
        return _failed(request, error)
    return answer if type(answer) is Response else _finish(answer, request)


async def _finish(
    answer: Response | EventStream | Awaitable[Response | EventStream], request: Request
) -> Response | EventStream:
    """Wait for a response. Raise no exception except `asyncio.CancelledError`."""
    try:
        finished = answer if isinstance(answer, Response | EventStream) else await answer
        return await _head(finished) if request.method == "HEAD" and isinstance(finished, EventStream) else finished
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        return _failed(request, error)


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
    own = [one for one in authenticators if one.policy == route.auth]
    if own and route.auth != "public":
        return route._replace(handler=_Guarded(route, _Door(own)))
    return route if route.auth in OPEN else None


async def authenticate(
    authenticators: Iterable[Authenticator], policy: str, request: Request, operator: OperatorToken | None = None
) -> Caller | Response:
    """Return the caller that a policy admits, or the response that refuses the request."""
    if operator is not None:
        request = operator.recognize(request)
    own = [one for one in authenticators if one.policy == policy]
    if own and policy != "public":
        found, _ = await _Door(own).ask(request)
        return found
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
    restricted = [(one, reason) for one in authenticators if (reason := getattr(one, "only_local", None))]
    if not local:
        reasons = [reason for _, reason in restricted] + _unguarded(authenticators, routes, policy)
        if reasons:
            raise ConfigError([f"other machines can reach {address}, and {reason}" for reason in reasons])
    for one, reason in restricted:
        warning = "%s admits the operator alone: %s. To prove that you are the operator, %s"
        logger.warning(warning, address, reason, _proof([one]))


def public_hosts(authenticators: Iterable[Authenticator]) -> frozenset[str]:
    """Return the host names that clients use for the routes."""
    return frozenset(host for one in authenticators for host in getattr(one, "public_hosts", ()))


def _unguarded(authenticators: Iterable[Authenticator], routes: Routes, policy: str | None) -> list[str]:
    """For each policy that requires an authenticator but has none, return a message with the fix."""
    guarded = {"public", *(one.policy for one in authenticators)}
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


def _proof(authenticators: Iterable[Authenticator]) -> str:
    """Return the proofs of the operator that work in addition to the authenticators' own tokens."""
    return PROOF_WITHOUT_HEADER if any(getattr(one, "needs_token", True) for one in authenticators) else PROOF


class _Door:
    """The authenticators of one policy. The first authenticator that recognizes the caller admits the request.

    If no authenticator recognizes the caller, the response is the most specific refusal.
    """

    def __init__(self, authenticators: Sequence[Authenticator]) -> None:
        self._authenticators = authenticators
        self._for_others = [one for one in authenticators if not getattr(one, "only_local", None)]

    async def ask(self, request: Request) -> tuple[Caller | Response, Authenticator | None]:
        """Return the caller and the authenticator that recognized the caller, or a refusal."""
        refusals: list[tuple[Response, Authenticator]] = []
        asked = self._authenticators if request.caller.trusted else self._for_others
        if not asked:
            text = (
                f"Only the operator may use this. To prove that you are the operator, {_proof(self._authenticators)}.\n"
            )
            return Response(403, text.encode(), "text/plain"), None
        for authenticator in asked:
            found = await authenticator.authenticate(request)
            if isinstance(found, Caller):
                return found, authenticator
            refusals.append((found, authenticator))
        refusal, whose = min(refusals, key=_says_little)
        _tell(refusal, request)
        return _completed(refusal, self._others(whose)), None

    def complete(self, answer: Response, first: Authenticator) -> Response:
        """Return a response with the challenge parameters of all authenticators."""
        return _completed(answer, [first, *self._others(first)])

    def _others(self, authenticator: Authenticator) -> list[Authenticator]:
        return [one for one in self._authenticators if one is not authenticator]


class _Guarded:
    """The handler of a route, protected by the authenticators of its policy."""

    def __init__(self, route: Route, door: _Door) -> None:
        self._handler = route.handler
        self._door = door

    async def __call__(self, request: Request, host: ProtocolContext) -> Response | EventStream:
        found, authenticator = await self._door.ask(request)
        if isinstance(found, Response):
            return found
        if request.notes is not None:
            request.notes["caller"] = found
        answer = self._handler(request._replace(caller=found), host)
        if not isinstance(answer, Response | EventStream):
            answer = await answer
        if authenticator is None or not isinstance(answer, Response) or answer.status not in _CHALLENGED:
            return answer  # the common case
        return self._door.complete(answer, authenticator)


def _tell(refusal: Response, request: Request) -> None:
    """Log a refusal because of an invalid token. A request without a token is not logged."""
    reason = re.search(_WRONG, refusal.headers.get("WWW-Authenticate", ""))
    scheme, _, rest = (request.headers.get("Authorization") or "").strip().partition(" ")
    token = rest.strip() if scheme.lower() == "bearer" else ""
    if refusal.status not in (400, 401) or not (reason or token):
        return
    facts = {
        "why": reason[1] if reason else None,
        "peer": request.peer,
        "path": request.path,
        "token": fingerprint(token) if token else None,
    }
    _AUDIT.refused("a token", None, facts, logging.INFO)


def _completed(answer: Response, authenticators: Iterable[Authenticator]) -> Response:
    """Return a refusal with the challenge parameters of all authenticators."""
    for one in authenticators:
        complete = getattr(one, "complete", None)
        if complete is not None and answer.status in _CHALLENGED:
            answer = complete(answer)
    return answer


def _says_little(refused: tuple[Response, Authenticator]) -> tuple[int, int]:
    """Return a sort key for refusals. A refusal by the authenticator that recognized the token comes first."""
    status, challenge = refused[0].status, refused[0].headers.get("WWW-Authenticate", "")
    kind = 0 if status == 403 else 1 if status >= 500 else 3 if status == 401 else 2
    return kind, -challenge.count('="')
