"""MCP over Streamable HTTP: one path for both eras.

The module depends on request and response objects, not on an HTTP server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from pegboard import ClientCapabilityError, MCPError
from pegboard.plugin import Bus, ProtocolError
from pegboard.types import Call, EventStream, Failure, Outcome, Request, Response
from pegboard_plugins.protocols.mcp.call_notifications import progress_token
from pegboard_plugins.protocols.mcp.headers import check_mirrored, check_revision, named_revision
from pegboard_plugins.protocols.mcp.http.error_responses import (
    StoreUnavailableError,
    busy_response,
    error_response,
    protocol_error_response,
    reject_outside_sessions,
    response_head,
    sessions_off,
    unsupported_revision,
)
from pegboard_plugins.protocols.mcp.http.session_call import ACCEPTED
from pegboard_plugins.protocols.mcp.http.session_endpoint import SessionEndpoint, answer_in
from pegboard_plugins.protocols.mcp.jsonrpc_messages import EMPTY, message_type, params_of, readable_id
from pegboard_plugins.protocols.mcp.mcp_service import McpService
from pegboard_plugins.protocols.mcp.media_types import NOT_ACCEPTABLE, Accepted, accepted_types, unsupported_body
from pegboard_plugins.protocols.mcp.mirrored_arguments import MirroredArguments
from pegboard_plugins.protocols.mcp.revisions import (
    LOG_LEVEL,
    SESSION_REVISIONS,
    STATELESS_REVISIONS,
)
from pegboard_plugins.protocols.mcp.stateless import is_stateless, read_client, require_stateless
from pegboard_plugins.protocols.mcp.stateless_call import STREAM_HEADERS, StatelessCall, cut_response
from pegboard_plugins.protocols.mcp.subscriptions import ClientSubscription
from pegboard_plugins.support.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR,
)
from pegboard_plugins.support.repeated_members import decode_message

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions
    from pegboard_plugins.protocols.mcp.settings import McpConfig


class StreamableHttp:
    """The handlers of one MCP endpoint: of the whole catalogue, or of a profile.

    Attributes:
        sessions: the sessions of the endpoint.
    """

    def __init__(self, service: McpService, config: McpConfig, sessions: HttpSessions, bus: Bus) -> None:
        self._service = service
        self._config = config
        self.sessions = sessions
        self._session_endpoint = SessionEndpoint(sessions, config, service)
        self._mirrored = MirroredArguments()
        sessions.attach(service.host)
        bus.listen("", self._notify_all)

    def _notify_all(self, body: bytes, sender: int) -> None:
        """Notify all listeners of everything, because changes of other processes may be lost."""
        self._service.changes.notify_all()

    def _refused(self, request: Request) -> Response | None:
        """Return the refusal of a GET or DELETE outside of sessions."""
        if self._config.sessions == "off":
            return Response(405, headers={"Allow": "POST"})
        return reject_outside_sessions(request)

    async def get_or_delete(self, request: Request) -> Response | EventStream:
        """Open a stream of a session, or end the session."""
        endpoint = self._session_endpoint
        answer = endpoint.delete if request.method == "DELETE" else endpoint.listen
        try:
            return self._refused(request) or await answer(request)
        except StoreUnavailableError as error:
            return protocol_error_response(error, None)

    async def post(self, request: Request) -> Response | EventStream:
        """Handle a message, or a batch in the revision that has batches."""
        if (refused := unsupported_body(request.headers)) is not None:
            return refused
        takes = accepted_types(request.headers)
        if not any(takes):
            return NOT_ACCEPTABLE
        try:
            message, repeated = decode_message(request.body)
        except ValueError:
            return error_response(
                400, None, PARSE_ERROR, "The body is not valid JSON (UTF-8, no NaN, at most 200 levels)."
            )
        try:
            if repeated:
                raise ProtocolError(INVALID_REQUEST, "The message repeats a member: send each member once.")
            if type(message) is list:
                if self._config.sessions == "off":
                    return sessions_off()
                return await self._session_endpoint.batch(message, request)
            answer = self._message(message, message_type(message), takes, request)
            return answer if isinstance(answer, Response) else await answer
        except MCPError as error:
            return protocol_error_response(error, readable_id(message))
        except asyncio.CancelledError:
            if not self._service.host.stopping:
                raise
            return Response(503, cut_response(readable_id(message)))

    def _message(
        self, message: dict[str, Any], kind: str, takes: Accepted, request: Request
    ) -> Response | Coroutine[Any, Any, Response | EventStream]:
        """Return the response to a message, or a coroutine that returns it."""
        params = message.get("params", EMPTY)
        revision = named_revision(request.headers)
        is_stateless_request = type(params) is dict and is_stateless(params)
        if is_stateless_request or not (revision is None or revision in SESSION_REVISIONS):
            if kind == "request":
                if not (is_stateless_request or revision in STATELESS_REVISIONS):
                    return unsupported_revision(str(revision), self._service.revisions, message["id"], INVALID_PARAMS)
                return self._stateless(message, revision, takes, request)
            return self._without_answer(message, kind, revision, request)
        if self._config.sessions == "off":
            return sessions_off(readable_id(message))
        if kind == "request" and message["method"] == "initialize":
            return self._session_endpoint.initialize(message["id"], params_of(message), request)
        return self._session_endpoint.message(message, kind, takes, request)

    # --- 2026-07-28 ---

    def _without_answer(self, message: dict[str, Any], kind: str, revision: str | None, request: Request) -> Response:
        """Return the response to a notification or response without a session.

        Since 2026-07-28 only plugins handle such notifications, and such responses are invalid.
        """
        if not (revision is None or revision in self._service.revisions):
            return unsupported_revision(revision, self._service.revisions)
        if kind != "notification":
            return error_response(400, None, INVALID_REQUEST, "This revision has no responses from clients.")
        self._service.dispatch_notification(message["method"], message.get("params", EMPTY), request.caller)
        return ACCEPTED

    async def _stateless(
        self, message: dict[str, Any], named: str | None, takes: Accepted, request: Request
    ) -> Response | EventStream:
        """Check a request in the order of the specification's error codes, then answer it."""
        service = self._service
        request_id, method, params = message["id"], message["method"], params_of(message)
        meta = params.get("_meta")
        if type(meta) is not dict:
            meta = {}
        client = read_client(meta, service.revisions)
        tells = progress_token(meta) is not None or LOG_LEVEL in meta
        if not client.revision == named in STATELESS_REVISIONS:
            check_revision(request.headers, client.revision, service.revisions)
            require_stateless(client, service.revisions)
        check_mirrored(request.headers, method, params, service.name_parameter)
        if method == "server/discover":
            return Response(body=service.discovery(request_id))
        if method == "subscriptions/listen":
            if not takes.events:
                return NOT_ACCEPTABLE
            subscription = service.listen(request_id, params, client, request.caller, request.headers)
            return self._listen(subscription, request)
        stateless_call = StatelessCall(request_id) if takes.events and (tells or not takes.json) else None
        caller, headers, peer = request.caller, request.headers, request.peer
        call = service.call(request_id, method, params, client, caller, stateless_call, None, headers, peer)
        self._mirrored.check(request.headers, call, service.tool)
        if stateless_call is None:
            outcome = await service.host.dispatch(call)
            body = service.response(call, outcome)
            return _head(call, outcome)._replace(body=body) if type(outcome) is Failure else Response(200, body)
        return await stateless_call.respond(answer_in(service, call, stateless_call, _head), streamed=not takes.json)

    def _listen(self, subscription: ClientSubscription, request: Request) -> Response | EventStream:
        if len(self._service.changes) > self._config.max_listening:
            subscription.end()
            return busy_response(503, subscription.request_id, "There are too many subscriptions.")
        self._service.admitted_streams.add(subscription, request)
        return EventStream(subscription, STREAM_HEADERS)


def _head(call: Call, outcome: Outcome) -> Response:
    """Return 403 if a token lacks scopes, and 400 if the client lacks a capability (2026-07-28).

    Clients react to both statuses.
    """
    error = outcome.error if isinstance(outcome, Failure) else None
    missing = isinstance(error, ProtocolError) and error.code == MISSING_CLIENT_CAPABILITY
    return Response(400) if missing or isinstance(error, ClientCapabilityError) else response_head(call, outcome)
