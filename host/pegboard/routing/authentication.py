"""The authenticators of a route policy, and the handlers that they protect."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import TypeAlias

from pegboard.plugin.routes import Authenticator, RouteHandler
from pegboard.plugin.transports import ProtocolContext
from pegboard.routing.operator_token import PROOF, PROOF_WITHOUT_HEADER
from pegboard.types.callers import Caller
from pegboard.types.http import EventStream, Request, Response

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
        refusal, whose = min(refusals, key=_says_little)
        return _completed(refusal, self._others(whose))

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

    def __init__(self, handler: RouteHandler, authenticators: PolicyAuthenticators) -> None:
        self._handler = handler
        self._authenticators = authenticators

    def answer(self, request: Request, host: ProtocolContext) -> Answer:
        """Return the response to a request, or an awaitable for it."""
        caller = self._authenticators.known(request)
        if caller is None:
            return self._ask(request, host)
        answer = self._admit(caller, request, host)
        if type(answer) is Response and answer.status not in _CHALLENGED:
            return answer  # the common case
        return self._completed(answer, self._authenticators.asked(request)[0])

    async def _ask(self, request: Request, host: ProtocolContext) -> Response | EventStream:
        admitted = await self._authenticators.ask(request)
        if isinstance(admitted, Response):
            return admitted
        caller, authenticator = admitted
        return await self._completed(self._admit(caller, request, host), authenticator)

    def _admit(self, caller: Caller, request: Request, host: ProtocolContext) -> Answer:
        if request.notes is not None:
            request.notes["caller"] = caller
        # faster than `_replace`
        method, path, query, headers, body, channel, peer, notes, _, forwarded_host = request
        admitted = Request(method, path, query, headers, body, caller, peer, notes, channel, forwarded_host)
        return self._handler(admitted, host)

    async def _completed(self, answer: Answer, authenticator: Authenticator) -> Response | EventStream:
        """Wait for a response, and add the challenges of all authenticators to a refusal."""
        finished = answer if isinstance(answer, Response | EventStream) else await answer
        if not isinstance(finished, Response) or finished.status not in _CHALLENGED:
            return finished
        return self._authenticators.complete(finished, authenticator)


def proof_of(authenticators: Iterable[Authenticator]) -> str:
    """Return the proofs of the operator that work in addition to the authenticators' own tokens."""
    return PROOF_WITHOUT_HEADER if any(authenticator.needs_token for authenticator in authenticators) else PROOF


def _completed(answer: Response, authenticators: Iterable[Authenticator]) -> Response:
    """Return a refusal with the challenge parameters of all authenticators."""
    for authenticator in authenticators:
        if answer.status in _CHALLENGED:
            answer = authenticator.complete(answer)
    return answer


def _says_little(refused: tuple[Response, Authenticator]) -> tuple[int, int]:
    """Return a sort key for refusals. A refusal by the authenticator that recognized the token comes first."""
    status = refused[0].status
    challenge = refused[0].headers.get("WWW-Authenticate", "")
    kind = 0 if status == 403 else 1 if status >= 500 else 3 if status == 401 else 2
    return kind, -challenge.count('="')
