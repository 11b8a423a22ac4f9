"""MCP over Streamable HTTP: one path, both eras, each request in its own.

It knows requests and responses, and no HTTP server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pegboard import MCPError
from pegboard.plugin import ClientCapabilityError, ProtocolContext, ProtocolError, decode_message
from pegboard.types import EMPTY, Call, EventStream, Failure, Outcome, Request, Response
from pegboard_plugins.mcp.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    params_of,
    readable_id,
    shape,
)
from pegboard_plugins.mcp.exchange import STREAM_HEADERS, Exchange
from pegboard_plugins.mcp.headers import check_mirrored, check_revision, named_revision
from pegboard_plugins.mcp.http.calls import ACCEPTED
from pegboard_plugins.mcp.http.refusals import failure, head_of, refusal, sessions_alone, unknown_revision
from pegboard_plugins.mcp.http.sessions import SessionRequests
from pegboard_plugins.mcp.listening import Listening, ListenStream
from pegboard_plugins.mcp.media import NOT_ACCEPTABLE, Accepted, accepted, unsupported
from pegboard_plugins.mcp.mirrored_arguments import MirroredArguments
from pegboard_plugins.mcp.modern import client_of, is_modern, require_served
from pegboard_plugins.mcp.notices import token_of
from pegboard_plugins.mcp.parameter_headers import check_parameters
from pegboard_plugins.mcp.revisions import LEGACY, LOG_LEVEL, MISSING_CLIENT_CAPABILITY, MODERN, SUPPORTED
from pegboard_plugins.mcp.service import Service

if TYPE_CHECKING:
    from pegboard_plugins.mcp import McpConfig
    from pegboard_plugins.mcp.http.table import Sessions
    from pegboard_plugins.mcp.rounds import RoundTrips


class StreamableHttp:
    """The handlers of the MCP endpoint."""

    def __init__(self, config: McpConfig, round_trips: RoundTrips, sessions: Sessions) -> None:
        self._config = config
        self._round_trips = round_trips
        self._in_sessions = SessionRequests(sessions, config)
        self._mirrored = MirroredArguments()
        self._made: Service | None = None

    def _service(self, host: ProtocolContext) -> Service:
        if self._made is None or self._made.host is not host:
            self._made = Service(host, self._config, self._round_trips)
        return self._made

    async def get(self, request: Request, host: ProtocolContext) -> Response | EventStream:
        """A stream of a session."""
        return sessions_alone(request) or await self._in_sessions.listen(request, self._service(host))

    async def delete(self, request: Request, host: ProtocolContext) -> Response:
        """The end of a session."""
        return sessions_alone(request) or await self._in_sessions.delete(request, self._service(host))

    async def post(self, request: Request, host: ProtocolContext) -> Response | EventStream:
        """Take a message, or a batch in the one revision that has them."""
        if (refused := unsupported(request.headers)) is not None:
            return refused
        takes = accepted(request.headers)
        if not any(takes):
            return NOT_ACCEPTABLE
        try:
            message, repeated = decode_message(request.body)
        except ValueError:
            return failure(400, None, PARSE_ERROR, "The body is not valid JSON (UTF-8, no NaN, at most 200 levels).")
        try:
            if repeated:
                raise ProtocolError(INVALID_REQUEST, "A member of the message is named twice.")
            if type(message) is list:
                return await self._in_sessions.batch(message, request, self._service(host))
            return await self._message(message, shape(message), takes, request, self._service(host))
        except MCPError as error:
            return refusal(error, readable_id(message))

    async def _message(
        self, message: dict[str, Any], kind: str, takes: Accepted, request: Request, service: Service
    ) -> Response | EventStream:
        params = message.get("params", EMPTY)
        revision = named_revision(request.headers)
        says_modern = type(params) is dict and is_modern(params)
        if says_modern or not (revision is None or revision in LEGACY):
            if kind == "request":
                if not (says_modern or revision in MODERN):
                    return unknown_revision(str(revision), message["id"], INVALID_PARAMS)
                return await self._modern(message, revision, takes, request, service)
            answer = _without_answer(kind, revision)
            if answer is ACCEPTED:
                service.hear(message["method"], params, request.caller)
            return answer
        if kind == "request" and message["method"] == "initialize":
            return await self._in_sessions.initialize(message["id"], params_of(message), request, service)
        return await self._in_sessions.message(message, kind, takes, request, service)

    # --- 2026-07-28 ---

    async def _modern(
        self, message: dict[str, Any], named: str | None, takes: Accepted, request: Request, service: Service
    ) -> Response | EventStream:
        """The checks in the order that the specification's codes need; all of them before anything is sent."""
        request_id, method, params = message["id"], message["method"], params_of(message)
        meta = params.get("_meta")
        if type(meta) is not dict:
            meta = {}
        client = client_of(meta)
        tells = token_of(meta) is not None or LOG_LEVEL in meta
        if not client.revision == named in MODERN:
            check_revision(request.headers, client.revision)
            require_served(client)
        check_mirrored(request.headers, method, params, service.name_parameter(method))
        if method == "server/discover":
            return Response(body=service.discovery(request_id))
        if method == "subscriptions/listen":
            if not takes.events:
                return NOT_ACCEPTABLE
            return self._listen(service.listen(request_id, params, client, request.caller, request.headers), service)
        exchange = Exchange(request_id) if takes.events and (tells or not takes.json) else None
        caller, headers, peer = request.caller, request.headers, request.peer
        call = service.call(request_id, method, params, client, caller, exchange, None, headers, peer)
        check_parameters(request.headers, call, service.host, self._mirrored)
        if exchange is None:
            outcome = await service.host.dispatch(call)
            return _head(call, outcome)._replace(body=service.response(call, outcome))
        return await exchange.respond(_modern_answer(service, call, exchange), streamed=not takes.json)

    def _listen(self, listening: Listening, service: Service) -> Response | EventStream:
        if len(service.changes) > self._config.max_listening:
            listening.end()
            busy = failure(503, listening.request_id, INTERNAL_ERROR, "There are too many subscriptions.")
            return busy._replace(headers={"Retry-After": "60"})
        return EventStream(ListenStream(listening), STREAM_HEADERS)


async def _modern_answer(service: Service, call: Call, exchange: Exchange) -> bytes:
    outcome = await service.host.dispatch(call)
    exchange.head = _head(call, outcome)
    if exchange.progress is not None:
        exchange.progress.end()
    return service.response(call, outcome)


def _head(call: Call, outcome: Outcome) -> Response:
    """403 where a token does not allow enough, 400 where a call ends for want of what its client declared (2026-07-28).

    The client must learn of both.
    """
    error = outcome.error if isinstance(outcome, Failure) else None
    missing = isinstance(error, ProtocolError) and error.code == MISSING_CLIENT_CAPABILITY
    return Response(400) if missing or isinstance(error, ClientCapabilityError) else head_of(call, outcome)


def _without_answer(kind: str, revision: str | None) -> Response:
    """Notifications and responses outside of sessions: in 2026-07-28 the first do nothing, the second do not exist."""
    if not (revision is None or revision in SUPPORTED):
        return unknown_revision(revision)
    if kind == "notification":
        return ACCEPTED
    return failure(400, None, INVALID_REQUEST, "This revision has no responses from clients.")
