"""Which route answers an HTTP request, and who may ask it. It knows no server."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence

from pegboard.audit import AuditLog, fingerprint
from pegboard.contracts import Authenticator, Caller, EventStream, ProtocolHost, Request, Response, Route
from pegboard.errors import ConfigError

logger = logging.getLogger("pegboard")

_NOT_LOCAL = Response(403, b"This is for this machine alone, and no proxy may pass it on.\n", "text/plain")

OPEN = frozenset(("public", "mcp"))
"""Policies that need no authenticator: the second admits everybody only as long as there is none for it."""

_CHALLENGED = (401, 403)
_WRONG = re.compile(r'error_description="([^"]*)"')
_AUDIT = AuditLog()

Routes = Mapping[str, Mapping[str, Route]]
"""By path, then by method."""


async def respond(routes: Routes, request: Request, host: ProtocolHost) -> Response | EventStream:
    """Answer one HTTP request by the route it belongs to. Never raises, but for `asyncio.CancelledError`."""
    methods = routes.get(request.path)
    if methods is None:
        return Response(404, b"There is nothing here.\n", "text/plain")
    route = methods.get("GET" if request.method == "HEAD" else request.method) or methods.get("*")
    if route is None:
        return Response(405, headers={"Allow": ", ".join(sorted(methods))})
    try:
        answer = await route.handler(request, host)
        return await _head(answer) if request.method == "HEAD" and isinstance(answer, EventStream) else answer
    except asyncio.CancelledError:
        raise
    except BaseException:
        error_id = secrets.token_hex(4)
        about = {"peer": request.peer, "data": {"error_id": error_id}}
        logger.exception("error %s in %s %s", error_id, request.method, request.path, extra=about)
        return Response(500, f"Internal error {error_id}\n".encode(), "text/plain")


async def _head(answer: EventStream) -> Response:
    """The answer to a HEAD request for an event stream, which is not begun."""
    close = getattr(answer.messages, "aclose", None)
    if close is not None:
        await close()
    return Response(headers={**answer.headers, "Content-Type": "text/event-stream"})


def guarded(route: Route, authenticators: Iterable[Authenticator]) -> Route | None:
    """A route that admits those whom its policy admits; None where nobody says whom that is.

    Args:
        route: the route.
        authenticators: of all policies.
    """
    own = [one for one in authenticators if one.policy == route.auth]
    if own and route.auth != "public":
        return route._replace(handler=_Guarded(route, own))
    return route if route.auth in OPEN else None


def check_reach(address: str, authenticators: Iterable[Authenticator], *, trusted: bool) -> None:
    """Warn of authenticators that are good for this machine's user alone.

    Args:
        address: where callers come in.
        authenticators: of all policies.
        trusted: whether only this machine's user can reach it.

    Raises:
        ConfigError: there are some, and others can reach it.
    """
    given = [getattr(one, "only_local", None) for one in authenticators]
    reasons = [reason for reason in given if reason]
    if reasons and not trusted:
        raise ConfigError([f"{address} is not for this machine alone, and {reason}" for reason in reasons])
    for reason in reasons:
        logger.warning("%s is for this machine alone: %s", address, reason)


def public_hosts(authenticators: Iterable[Authenticator]) -> frozenset[str]:
    """Return the hosts by which clients call the routes."""
    return frozenset(host for one in authenticators for host in getattr(one, "public_hosts", ()))


class _Guarded:
    """A route's handler, behind authenticators: the first that knows the caller lets the request in.

    Where none does, the refusal that says most goes out.
    """

    def __init__(self, route: Route, authenticators: Sequence[Authenticator]) -> None:
        self._handler = route.handler
        self._authenticators = authenticators
        self._for_others = [one for one in authenticators if not getattr(one, "only_local", None)]

    async def __call__(self, request: Request, host: ProtocolHost) -> Response | EventStream:
        refusals: list[tuple[Response, Authenticator]] = []
        asked = self._authenticators if request.caller.trusted else self._for_others
        if not asked:
            return _NOT_LOCAL
        for authenticator in asked:
            found = await authenticator.authenticate(request)
            if isinstance(found, Caller):
                if request.notes is not None:
                    request.notes["caller"] = found
                answer = await self._handler(request._replace(caller=found), host)
                if not isinstance(answer, Response) or answer.status not in _CHALLENGED:
                    return answer  # as nearly all are
                return _completed(answer, [authenticator, *self._others(authenticator)])
            refusals.append((found, authenticator))
        refusal, whose = min(refusals, key=_says_little)
        _tell(refusal, request)
        return _completed(refusal, self._others(whose))

    def _others(self, authenticator: Authenticator) -> list[Authenticator]:
        return [one for one in self._authenticators if one is not authenticator]


def _tell(refusal: Response, request: Request) -> None:
    """Keep a record of tokens that are no good; who brings none is only on their way to get one."""
    told = _WRONG.search(refusal.headers.get("WWW-Authenticate", ""))
    scheme, _, rest = (request.headers.get("Authorization") or "").strip().partition(" ")
    token = rest.strip() if scheme.lower() == "bearer" else ""
    if refusal.status not in (400, 401) or not (told or token):
        return
    facts = {
        "why": told[1] if told else None,
        "peer": request.peer,
        "path": request.path,
        "token": fingerprint(token) if token else None,
    }
    _AUDIT.refused("a token", None, facts, logging.INFO)


def _completed(answer: Response, authenticators: Iterable[Authenticator]) -> Response:
    """What is refused, with what only authenticators know of how to be admitted."""
    for one in authenticators:
        complete = getattr(one, "complete", None)
        if complete is not None and answer.status in _CHALLENGED:
            answer = complete(answer)
    return answer


def _says_little(refused: tuple[Response, Authenticator]) -> tuple[int, int]:
    """How little a refusal says: most does one that knows the token, least one that asks for another."""
    status, challenge = refused[0].status, refused[0].headers.get("WWW-Authenticate", "")
    kind = 0 if status == 403 else 1 if status >= 500 else 3 if status == 401 else 2
    return kind, -challenge.count('="')
