"""HTTP requests of a session: initialize, posted messages, streams, and the end of the session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard import MCPError
from pegboard.plugin import ProtocolError
from pegboard.types import Call, EventStream, Outcome, Request, Response
from pegboard_plugins.protocols.mcp.admitted_streams import seconds_left
from pegboard_plugins.protocols.mcp.headers import SESSION_HEADER, named_revision
from pegboard_plugins.protocols.mcp.http.error_responses import (
    SessionDeletedError,
    StoreUnavailableError,
    busy_response,
    error_response,
    protocol_error_response,
    response_head,
)
from pegboard_plugins.protocols.mcp.http.http_session import STANDALONE_STREAM_PREFIX, HttpSession
from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions
from pegboard_plugins.protocols.mcp.http.resumption import RemoteStream, rest_of_call
from pegboard_plugins.protocols.mcp.http.session_call import ACCEPTED, SessionCall
from pegboard_plugins.protocols.mcp.http.session_stream import (
    EventId,
    Missed,
    SessionStream,
    SessionStreamReader,
    request_id_of,
)
from pegboard_plugins.protocols.mcp.jsonrpc_messages import (
    is_request_id,
    message_type,
    params_of,
    readable_id,
    requires_response,
)
from pegboard_plugins.protocols.mcp.mcp_service import McpService
from pegboard_plugins.protocols.mcp.media_types import NOT_ACCEPTABLE, Accepted, accepted_types
from pegboard_plugins.protocols.mcp.revisions import (
    BATCH_REVISION,
    METHOD_CAPABILITIES,
    PROTOCOL_VERSION,
    SESSION_REVISIONS,
    SUPPORTED_REVISIONS,
)
from pegboard_plugins.protocols.mcp.session import negotiate
from pegboard_plugins.protocols.mcp.session_methods import SEALED, answer_at_once
from pegboard_plugins.protocols.mcp.stateless import is_stateless
from pegboard_plugins.protocols.mcp.stateless_call import STREAM_HEADERS, StatelessCall, cut_response
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, RequestId
from pegboard_plugins.support.refusal_log import RefusalLog, fingerprint

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.settings import McpConfig

MAX_RUNNING_CALLS = 1000
"""The largest number of running calls of one session. Calls continue when their client disconnects."""

_NOT_ASKED = (
    "This process did not send this request, and the process that sent it has ended or cannot be reached, "
    "so the response is lost."
)

_AUDIT = RefusalLog()
logger = logging.getLogger("pegboard.mcp")


class SessionEndpoint:
    """The handler of requests of sessions.

    Args:
        sessions: the sessions.
        config: the settings of the plugin.
        service: MCP for the endpoint.
    """

    def __init__(self, sessions: HttpSessions, config: McpConfig, service: McpService) -> None:
        self._sessions = sessions
        self._config = config
        self._service = service

    async def initialize(self, request_id: RequestId, params: Any, request: Request) -> Response:
        """Open a session."""
        client, service = negotiate(params), self._service
        if not await self._sessions.may_open(request.caller, request.peer):
            return self._too_many(request_id)
        session = await self._sessions.open(client, request.caller, request.peer, service.offered())
        if session is None:
            return busy_response(503, request_id, "There are too many sessions; try again later.")
        try:
            body = service.handshake(request_id, session)
            if not session.is_sealed:  # nothing tells their end
                service.session_started(session.id, session, request.caller)
            return Response(body=body, headers={SESSION_HEADER: session.id})
        finally:
            await self._sessions.release(session)

    def _too_many(self, request_id: RequestId) -> Response:
        most = self._config.max_sessions_per_caller
        text = (
            f"You have {most} sessions, which is the limit: end one with DELETE, or try again later. "
            "The setting is [plugins.mcp] max_sessions_per_caller."
        )
        return busy_response(429, request_id, text)

    async def _find(self, request: Request, message: dict[str, Any] | None = None) -> HttpSession | Response:
        """Return the session of a request and hold it, or return the error response for the message."""
        named = request.headers.getall(SESSION_HEADER, ())
        if len(named) != 1:
            text = f"{SESSION_HEADER} is missing: send initialize first, or {PROTOCOL_VERSION} in params._meta."
            if named:
                text = f"{SESSION_HEADER} appears more than once."
            return error_response(
                400, readable_id(message), INVALID_REQUEST, text, {"supported": list(SUPPORTED_REVISIONS)}
            )
        session = await self._sessions.find(named[0].strip(" \t"), request.caller, request.peer)
        return session or error_response(404, readable_id(message), INVALID_REQUEST, "There is no such session.")

    def _live(self, request: Request) -> HttpSession | None:
        """Return the session of a request and hold it, if it is in use. `_find` finds all sessions."""
        named = request.headers.getall(SESSION_HEADER, ())
        return self._sessions.live(named[0].strip(" \t"), request.caller) if len(named) == 1 else None

    # --- messages ---

    async def message(
        self, message: dict[str, Any], kind: str, takes: Accepted, request: Request
    ) -> Response | EventStream:
        """Handle a message."""
        session = self._live(request) or await self._find(request, message)
        if isinstance(session, Response):
            return session
        response: Response | EventStream | None = None
        try:
            if kind == "request":
                try:
                    started = self._start(message, session, request, tells=takes.events)
                except MCPError as error:
                    # inside a session the status is 200: clients take any other status for the end of the session
                    return protocol_error_response(error, message["id"])._replace(status=200)
                if isinstance(started, Response):
                    return started
                await started.until_ready(json=takes.json, events=takes.events)
                response = started.ready_response(json=takes.json)
                response = response or started.stream(repeatable=self._is_repeatable(message, request))
                return response
            if kind == "notification":
                await self._notification(session, message["method"], message.get("params"))
            elif not await self._settle(session, message, request):
                return error_response(400, None, INVALID_REQUEST, _NOT_ASKED)  # 404 would end the session
            return ACCEPTED
        finally:
            await self._let_go(session, response)

    async def _let_go(self, session: HttpSession, response: Response | EventStream | None) -> None:
        """Release a session after a message. A stream without a reader is closed.

        Raises:
            SessionDeletedError: another process has deleted the session, so that the message changes nothing.
            StoreUnavailableError: the changes of the message cannot be stored.
        """
        if not self._sessions.let_go(session):
            return
        try:
            await self._sessions.settle(session)
        except StoreUnavailableError:
            if not isinstance(response, EventStream):  # else the call stores the changes at its end
                raise
        except asyncio.CancelledError:
            if isinstance(response, EventStream):
                messages: Any = response.messages
                await messages.aclose()
            raise
        if session.closed and not isinstance(response, EventStream):
            raise SessionDeletedError

    async def _settle(self, session: HttpSession, message: dict[str, Any], request: Request) -> bool:
        """Handle a response of the client. Return False if the process that sent the request has ended."""
        request_id = message["id"]
        ids = self._sessions.request_ids
        if request_id is None or request_id in ids:
            session.requests.settle(message)
            return True
        owner = ids.process_of(request_id)
        if owner > 0 and await self._sessions.messages.tell("answer", owner, session=session.id, message=message):
            return True
        facts = {"session": fingerprint(session.id), "peer": request.peer}
        _AUDIT.refused("a response to a request of another process", request.caller, facts)
        return False

    async def _notification(self, session: HttpSession, method: str, params: Any) -> None:
        """Handle a cancellation or a progress notification. Dispatch every notification to plugins."""
        if method == "notifications/cancelled" and isinstance(params, dict):
            await self._cancel(session, params)
        elif method == "notifications/progress" and isinstance(params, dict):
            owner = self._sessions.request_ids.process_of(params.get("progressToken"))
            if owner > 0 and params["progressToken"] not in self._sessions.request_ids:
                await self._sessions.messages.tell("progress", owner, session=session.id, params=params)
            else:
                session.requests.report_progress(params)
        self._service.dispatch_notification(method, params, session.caller, session)

    async def _cancel(self, session: HttpSession, params: dict[str, Any]) -> None:
        """Cancel a call, in this process or in another one."""
        request_id = params.get("requestId")
        if not is_request_id(request_id):
            return
        if session.cancel(request_id):
            logger.info("request %r cancelled by the client: %s", request_id, params.get("reason", "no reason"))
        else:
            await self._sessions.messages.tell("cancelled", session=session.id, request=request_id)

    def _start(
        self, message: dict[str, Any], session: HttpSession, request: Request, *, tells: bool
    ) -> Response | SessionCall:
        """Return the response to a request, or the started call.

        Raises:
            ProtocolError: the request is rejected.
        """
        service = self._service
        request_id, method, params = message["id"], message["method"], params_of(message)
        if method == "initialize":
            raise ProtocolError(INVALID_REQUEST, "initialize must not be part of a batch.")
        if request_id in session.running:
            raise ProtocolError(INVALID_REQUEST, "A request with this id is still in flight: use another id.")
        if len(session.running) >= MAX_RUNNING_CALLS:
            raise ProtocolError(INTERNAL_ERROR, f"{MAX_RUNNING_CALLS} requests are in flight: wait for a response.")
        if method == "resources/subscribe" and (
            refused := service.refused_subscription(request_id, params, session.client, request.caller)
        ):
            return response_head(*refused)._replace(body=service.response(*refused))
        if (response := answer_at_once(session, request_id, method, params)) is not None:
            return Response(body=response)
        running = SessionCall(request_id, session)
        channel = running if tells else None
        caller, headers, peer = request.caller, request.headers, request.peer
        call = service.call(request_id, method, params, session.client, caller, channel, session, headers, peer)
        running.start(partial(answer_in, service, call, running))
        return running

    def _is_repeatable(self, message: dict[str, Any], request: Request) -> bool:
        """Return True if repeating a request has no further effect: all but calls of tools that may have effects."""
        if message["method"] != "tools/call":
            return message["method"] in METHOD_CAPABILITIES
        name = params_of(message).get("name")
        tool = self._service.tool(name, request.caller) if isinstance(name, str) else None
        hints = None if tool is None else tool.annotations
        return hints is not None and bool(hints.read_only or hints.idempotent)

    # --- batches (2025-03-26, basic) ---

    async def batch(self, messages: list[Any], request: Request) -> Response:
        """Handle several messages at once.

        Raises:
            ProtocolError: the revision has no batches, or the batch is too large.
        """
        revision = named_revision(request.headers)
        if not (revision is None or revision in SESSION_REVISIONS):
            raise ProtocolError(INVALID_REQUEST, f"Batches are supported in revision {BATCH_REVISION} only.")
        session = await self._find(request)
        if isinstance(session, Response):
            return session
        try:
            if session.client.revision != BATCH_REVISION:
                raise ProtocolError(INVALID_REQUEST, f"Batches are supported in revision {BATCH_REVISION} only.")
            if not 0 < len(messages) <= self._config.max_batch:
                raise ProtocolError(INVALID_REQUEST, f"A batch must have 1 to {self._config.max_batch} messages.")
            answers = await asyncio.gather(*[self._batched(message, session, request) for message in messages])
        finally:
            await self._sessions.release(session)
        responses = [answer for answer in answers if answer is not None]
        if responses and not any(map(requires_response, messages)):
            return Response(400, responses[0])  # a response of the client is rejected
        return Response(body=b"[" + b",".join(responses) + b"]") if responses else ACCEPTED

    async def _batched(self, message: Any, session: HttpSession, request: Request) -> bytes | None:
        """Return the response to one message of a batch, or None for a message without a response.

        Drop other messages of the call.
        """
        try:
            kind = message_type(message)
            params = message.get("params")
            if kind == "notification":
                await self._notification(session, message["method"], params)
            if kind == "response" and not await self._settle(session, message, request):
                raise ProtocolError(INVALID_REQUEST, _NOT_ASKED)
            if kind != "request":
                return None
            if type(params) is dict and is_stateless(params):
                raise ProtocolError(
                    INVALID_REQUEST, "This revision does not support batches: send each message separately."
                )
            if session.closed:  # after the batch arrived
                raise SessionDeletedError
            started = self._start(message, session, request, tells=False)
        except MCPError as error:
            return protocol_error_response(error, readable_id(message)).body
        return started.body if isinstance(started, Response) else await started.response()

    # --- streams, and the end ---

    async def listen(self, request: Request) -> Response | EventStream:
        """Open a standalone stream, or resume a stream that the client lost."""
        if not accepted_types(request.headers).events:
            return NOT_ACCEPTABLE
        session = await self._find(request)
        if isinstance(session, Response):
            return session
        try:
            if not session.streams and len(self._service.changes) >= self._config.max_listening:
                return busy_response(503, None, "There are too many streams; try again later.")
            last = request.headers.getall("Last-Event-ID", ())
            if not last:
                return self._standalone(session.open_standalone(), request)
            stream = await self._resume(session, last, request)
        finally:
            await self._sessions.release(session)
        return stream or error_response(
            400, None, INVALID_REQUEST, "The events after that Last-Event-ID are no longer available."
        )

    async def _resume(self, session: HttpSession, last: Any, request: Request) -> EventStream | None:
        """Return the stream, starting after an event."""
        named = EventId.parse(last[0].strip(" \t")) if len(last) == 1 else None
        if named is None:
            return None
        if named.stream.startswith(STANDALONE_STREAM_PREFIX):
            return await self._resume_standalone(session, named, request)
        request_id = request_id_of(named.stream)
        at_the_end = None if request_id is None else partial(cut_response, request_id)
        stream = self._sessions.stream(session.id, named.stream)
        messages: RemoteStream | SessionStreamReader | None = None
        if not stream.is_kept:
            messages = await self._sessions.resumption.remote(session.id, named)
        messages = messages or await rest_of_call(stream, named.number)
        return None if messages is None else EventStream(messages=messages, headers=STREAM_HEADERS, cut=at_the_end)

    async def _resume_standalone(self, session: HttpSession, named: EventId, request: Request) -> EventStream:
        """Return a standalone stream after an event. It has only changes, so a new stream can replace it."""
        stream = self._sessions.stream(session.id, named.stream)
        missed = await stream.missed(named.number)
        if missed is None:
            return self._standalone(session.open_standalone(notify_all=True), request)
        if not stream.is_kept:
            stream = session.open_standalone(named.stream, named.number + len(missed) + 1)
        return self._standalone(stream, request, missed, prime=False)

    def _standalone(
        self, stream: SessionStream, request: Request, missed: Missed = (), *, prime: bool = True
    ) -> EventStream:
        """Return a standalone stream. It ends when the caller's token expires, or the caller is no longer admitted."""
        reader = stream.read(missed, prime=prime, seconds=seconds_left(request.caller))
        self._service.admitted_streams.add(reader, request)
        return EventStream(reader, STREAM_HEADERS)

    async def delete(self, request: Request) -> Response:
        """End a session. Refuse it if sessions are sealed (2025-11-25, basic/transports, session management)."""
        if self._sessions.is_sealed:
            text = f"A session cannot be deleted, as {SEALED}. It ends by itself."
            return error_response(405, None, INVALID_REQUEST, text)._replace(headers={"Allow": "GET, POST"})
        session = await self._find(request)
        if isinstance(session, Response):
            return session
        self._service.host.session_ended(session.id)
        await self._sessions.close(session)
        return Response(204)


async def answer_in(
    service: McpService,
    call: Call,
    running: SessionCall | StatelessCall,
    head: Callable[[Call, Outcome], Response] = response_head,
) -> bytes:
    """Return the response to a call, and set the head of its HTTP response."""
    outcome = await service.host.dispatch(call)
    if running.open:  # else it has ended with its session, with another head
        running.head = head(call, outcome)
    if running.progress is not None:
        running.progress.end()
    return service.response(call, outcome)
