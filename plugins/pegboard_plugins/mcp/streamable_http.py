"""MCP over Streamable HTTP: one path, both eras, each request in its own.

It knows requests and responses, and no HTTP server.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pegboard import (
    NOTHING,
    Call,
    ClientCapabilityError,
    EventStream,
    Failure,
    MCPError,
    Outcome,
    ProtocolError,
    ProtocolHost,
    Request,
    RequestId,
    Response,
    decode,
    has_duplicate_keys,
    jsonrpc_error,
)
from pegboard_plugins.mcp.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    is_request_id,
    params_of,
    readable_id,
    shape,
)
from pegboard_plugins.mcp.exchange import ACCEPTED, Exchange
from pegboard_plugins.mcp.headers import (
    PROTOCOL_VERSION_HEADER,
    SESSION_HEADER,
    check_mirrored,
    check_revision,
    named_revision,
)
from pegboard_plugins.mcp.media import NOT_ACCEPTABLE, accepted, unsupported
from pegboard_plugins.mcp.modern import client_of, is_modern, require_served
from pegboard_plugins.mcp.parameter_headers import check_parameters
from pegboard_plugins.mcp.revisions import LEGACY, MISSING_CLIENT_CAPABILITY, MODERN, SUPPORTED
from pegboard_plugins.mcp.service import Service
from pegboard_plugins.mcp.session import negotiate
from pegboard_plugins.mcp.session_methods import answer_at_once
from pegboard_plugins.mcp.sessions import HttpSession, Sessions

if TYPE_CHECKING:
    from pegboard_plugins.mcp import McpConfig
    from pegboard_plugins.mcp.rounds import RoundTrips

BATCH_REVISION = "2025-03-26"


class StreamableHttp:
    """The handlers of the MCP endpoint."""

    def __init__(self, config: McpConfig, round_trips: RoundTrips, sessions: Sessions) -> None:
        self._config = config
        self._round_trips = round_trips
        self._sessions = sessions
        self._made: Service | None = None

    def _service(self, host: ProtocolHost) -> Service:
        if self._made is None or self._made.host is not host:
            self._made = Service(host, self._config, self._round_trips)
        return self._made

    # --- methods of HTTP ---

    async def get(self, request: Request, host: ProtocolHost) -> Response:
        """There is no stream to open outside of a request: nothing is sent that no request asked for."""
        return _not_offered(request)

    async def delete(self, request: Request, host: ProtocolHost) -> Response:
        """End a session."""
        revision = named_revision(request.headers)
        if revision in MODERN:
            return _not_offered(request)
        if not (revision is None or revision in LEGACY):
            return _unknown_revision(revision)
        session = self._session(request)
        if isinstance(session, Response):
            return session
        self._sessions.close(session)
        return Response(204)

    async def post(self, request: Request, host: ProtocolHost) -> Response | EventStream:
        """Take a message, or a batch in the one revision that has them."""
        if (refusal := unsupported(request.headers)) is not None:
            return refusal
        if not any(accepted(request.headers)):
            return NOT_ACCEPTABLE
        try:
            message = decode(request.body)
        except ValueError:
            return _error(400, None, PARSE_ERROR, "The body is not valid JSON (UTF-8, no NaN, at most 200 levels).")
        try:
            if has_duplicate_keys(request.body):
                raise ProtocolError(INVALID_REQUEST, "A member of the message is named twice.")
            if type(message) is list:
                return await self._batch(message, request, self._service(host))
            return await self._message(message, shape(message), request, self._service(host))
        except MCPError as error:
            return _refusal(error, readable_id(message))

    async def _message(
        self, message: dict[str, Any], kind: str, request: Request, service: Service
    ) -> Response | EventStream:
        params = message.get("params", NOTHING)
        revision = named_revision(request.headers)
        if _says_modern(params) or not (revision is None or revision in LEGACY):
            if kind == "request":
                return await self._modern(message["id"], message["method"], params_of(message), request, service)
            answer = _without_answer(kind, revision)
            if answer is ACCEPTED:
                service.hear(message["method"], params, request.caller)
            return answer
        if kind == "request" and message["method"] == "initialize":
            return self._initialize(message["id"], params_of(message), request, service)
        session = self._session(request, readable_id(message))
        if isinstance(session, Response):
            return session
        if kind == "request":
            return await self._in_session(message, session, request, service)
        if kind == "notification":
            _notification(session, message["method"], params, service)
        else:
            session.requests.settle(message)
        return ACCEPTED

    # --- 2026-07-28 ---

    async def _modern(
        self, request_id: RequestId, method: str, params: Any, request: Request, service: Service
    ) -> Response | EventStream:
        """The checks in the order that the specification's codes need; all of them before anything is sent."""
        meta = params.get("_meta")
        if type(meta) is not dict:
            meta = {}
        client = client_of(meta)
        if not is_request_id(meta.get("progressToken", "")):
            raise ProtocolError(INVALID_PARAMS, "params._meta.progressToken must be a string or an integer")
        check_revision(request.headers, client.revision)
        require_served(client)
        check_mirrored(request.headers, method, params, service.name_parameter(method))
        if method == "server/discover":
            return Response(body=service.discovery(request_id))
        exchange = Exchange()
        takes = accepted(request.headers)
        outlet = exchange if takes.events else None
        call = service.call(request_id, method, params, client, request.caller, outlet, headers=request.headers)
        check_parameters(request.headers, call, service.host)
        if takes.json and call.notify is None:
            outcome = await service.host.dispatch(call)
            return Response(_status(outcome), service.response(call, outcome))
        exchange.start(_modern_answer(service, call, exchange), _nothing)
        return await exchange.respond(cancel_with_peer=True, streamed=not takes.json)

    # --- sessions ---

    def _initialize(self, request_id: RequestId, params: Any, request: Request, service: Service) -> Response:
        client = negotiate(params)
        session = self._sessions.open(client, request.caller)
        if session is None:
            busy = _error(503, request_id, INTERNAL_ERROR, "There are too many sessions; try again later.")
            return busy._replace(headers={"Retry-After": "60"})
        return Response(body=service.handshake(request_id, session), headers={SESSION_HEADER: session.id})

    def _session(self, request: Request, request_id: RequestId | None = None) -> HttpSession | Response:
        """The session that a request belongs to, or the refusal."""
        named = request.headers.getall(SESSION_HEADER, ())
        if len(named) != 1:
            message = f"{SESSION_HEADER} is missing: send initialize first, or the protocol version in params._meta."
            if named:
                message = f"{SESSION_HEADER} is given more than once."
            return _error(400, request_id, INVALID_REQUEST, message, {"supported": list(SUPPORTED)})
        session = self._sessions.get(named[0].strip(" \t"), request.caller)
        return session or _error(404, request_id, INVALID_REQUEST, "There is no such session.")

    async def _in_session(
        self, message: dict[str, Any], session: HttpSession, request: Request, service: Service
    ) -> Response | EventStream:
        takes = accepted(request.headers)
        try:
            started = self._start(message, session, service, request, tells=takes.events)
        except MCPError as error:
            # inside a session an error is an answer: clients take any other status for the end of the session
            return _refusal(error, message["id"])._replace(status=200)
        if isinstance(started, bytes):
            return Response(body=started)
        return await started.respond(cancel_with_peer=False, streamed=not takes.json)

    def _start(
        self, message: dict[str, Any], session: HttpSession, service: Service, request: Request, *, tells: bool
    ) -> bytes | Exchange:
        """The answer, or the call that will bring it: a task of its own, as it goes on when the peer is gone.

        Raises:
            ProtocolError: the request is refused.
        """
        request_id, method, params = message["id"], message["method"], params_of(message)
        if method == "initialize":
            raise ProtocolError(INVALID_REQUEST, "initialize must not be part of a batch.")
        if request_id in session.running:
            raise ProtocolError(INVALID_REQUEST, "A request with this id is still in flight.")
        if (response := answer_at_once(session, request_id, method, params)) is not None:
            return response
        exchange = Exchange()
        outlet = exchange if tells else None
        call = service.call(
            request_id, method, params, session.client, session.caller, outlet, session, request.headers
        )
        exchange.start(_answer(service, call, session, exchange), lambda: self._ended(session, request_id, exchange))
        session.running[request_id] = exchange
        return exchange

    def _ended(self, session: HttpSession, request_id: RequestId, exchange: Exchange) -> None:
        if session.running.get(request_id) is exchange:
            del session.running[request_id]
        self._sessions.touch(session)

    # --- batches (2025-03-26, basic) ---

    async def _batch(self, messages: list[Any], request: Request, service: Service) -> Response:
        revision = named_revision(request.headers)
        if not (revision is None or revision in LEGACY):
            raise ProtocolError(INVALID_REQUEST, f"Batches belong to revision {BATCH_REVISION} alone.")
        session = self._session(request)
        if isinstance(session, Response):
            return session
        if session.client.revision != BATCH_REVISION:
            raise ProtocolError(INVALID_REQUEST, f"Batches belong to revision {BATCH_REVISION} alone.")
        if not 0 < len(messages) <= self._config.max_batch:
            raise ProtocolError(INVALID_REQUEST, f"A batch holds 1 to {self._config.max_batch} messages.")
        answers = await asyncio.gather(*[self._batched(message, session, request, service) for message in messages])
        responses = [answer for answer in answers if answer is not None]
        return Response(body=b"[" + b",".join(responses) + b"]") if responses else ACCEPTED

    async def _batched(self, message: Any, session: HttpSession, request: Request, service: Service) -> bytes | None:
        """The response to one message of a batch, if it has one. What it says on its way is not sent."""
        try:
            kind = shape(message)
            if kind == "notification":
                _notification(session, message["method"], message.get("params"), service)
            if kind == "response":
                session.requests.settle(message)
            if kind != "request":
                return None
            if _says_modern(message.get("params")):
                raise ProtocolError(INVALID_REQUEST, "This revision has no batches.")
            started = self._start(message, session, service, request, tells=False)
        except MCPError as error:
            return _refusal(error, readable_id(message)).body
        return started if isinstance(started, bytes) else await started.response()


async def _modern_answer(service: Service, call: Call, exchange: Exchange) -> bytes:
    outcome = await service.host.dispatch(call)
    exchange.status = _status(outcome)
    return service.response(call, outcome)


def _status(outcome: Outcome) -> int:
    """400 where a call ends for want of what its client declared, which the client must learn (2026-07-28)."""
    error = outcome.error if isinstance(outcome, Failure) else None
    missing = isinstance(error, ClientCapabilityError)
    return 400 if missing or (isinstance(error, ProtocolError) and error.code == MISSING_CLIENT_CAPABILITY) else 200


async def _answer(service: Service, call: Call, session: HttpSession, exchange: Exchange) -> bytes:
    response = service.response(call, await service.host.dispatch(call))
    session.withdraw(exchange)
    return response


def _nothing() -> None:
    """What is to be done after a call that belongs to no session."""


def _notification(session: HttpSession, method: str, params: Any, service: Service) -> None:
    """Act on a cancellation and on progress; whatever else there is may be for a plugin, and else for nobody."""
    if method == "notifications/cancelled" and isinstance(params, dict):
        request_id = params.get("requestId")
        if isinstance(request_id, str | int) and is_request_id(request_id):
            session.cancel(request_id)
    elif method == "notifications/progress":
        session.requests.progressed(params)
    else:
        service.hear(method, params, session.caller, session)


def _says_modern(params: Any) -> bool:
    return type(params) is dict and is_modern(params)


def _not_offered(request: Request) -> Response:
    modern = named_revision(request.headers) in MODERN
    return Response(405, headers={"Allow": "POST" if modern else "POST, DELETE"})


def _without_answer(kind: str, revision: str | None) -> Response:
    """Notifications and responses outside of sessions: in 2026-07-28 the first do nothing, the second do not exist."""
    if not (revision is None or revision in SUPPORTED):
        return _unknown_revision(revision)
    if kind == "notification":
        return ACCEPTED
    return _error(400, None, INVALID_REQUEST, "This revision has no responses from clients.")


def _unknown_revision(revision: str) -> Response:
    data = {"supported": list(SUPPORTED), "requested": revision}
    return _error(400, None, INVALID_REQUEST, f"{PROTOCOL_VERSION_HEADER} names no revision served here.", data)


def _refusal(error: MCPError, request_id: RequestId | None) -> Response:
    """What is refused before anything runs: 404 for a method that is not there, 400 for all else."""
    code, data = (error.code, error.data) if isinstance(error, ProtocolError) else (INTERNAL_ERROR, None)
    return _error(404 if code == METHOD_NOT_FOUND else 400, request_id, code, error.message, data)


def _error(status: int, request_id: RequestId | None, code: int, message: str, data: Any = None) -> Response:
    return Response(status, jsonrpc_error(code, message, request_id, data))
