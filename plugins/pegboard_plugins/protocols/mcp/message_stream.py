"""MCP over one message stream: reads messages, handles each in its era (sessions or stateless), and responds.

Each message decides its own era (2026-07-28, basic/versioning). Both eras may share a connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import get_ident
from typing import Any

from pegboard import MCPError
from pegboard.plugin import Connection, ProtocolContext, ProtocolError, StreamProtocol, encode
from pegboard.types import Call, Caller, Client, Tool
from pegboard_plugins.protocols.mcp.connection_writer import (
    ConnectionSubscriptions,
    ConnectionWriter,
    ListChangedNotifier,
    SendQueue,
)
from pegboard_plugins.protocols.mcp.jsonrpc_messages import (
    is_request_id,
    message_type,
    params_of,
    readable_id,
    requires_response,
)
from pegboard_plugins.protocols.mcp.mcp_service import McpService
from pegboard_plugins.protocols.mcp.progress_reports import ProgressReports
from pegboard_plugins.protocols.mcp.revisions import BATCH_REVISION, PROTOCOL_VERSION, SUPPORTED_REVISIONS
from pegboard_plugins.protocols.mcp.session import Session, negotiate
from pegboard_plugins.protocols.mcp.session_methods import answer_at_once
from pegboard_plugins.protocols.mcp.stateless import is_stateless, read_client, require_stateless
from pegboard_plugins.support.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    RequestId,
    jsonrpc_error,
    jsonrpc_result,
)
from pegboard_plugins.support.repeated_members import decode_message

CLEANUP_SECONDS = 0.5
"""How long cancelled calls may take to clean up after the connection has ended."""

MAX_REQUESTS_IN_FLIGHT = 1000
"""The largest number of requests of one connection that run, or whose responses wait for the client."""

MAX_UNREAD_RESPONSES = 100
"""How many responses are sent before the next message is read only when the client has read most of them."""

MAX_CAPACITY_WAIT_SECONDS = 5.0
"""How long reading waits for a request to end before the next request is rejected."""

MAX_DELIVERY_TURNS = 10
"""The turns of the event loop to wait for the client to read the last progress report of a call."""

logger = logging.getLogger("pegboard.mcp")


class McpProtocol(StreamProtocol):
    """The protocol of message streams: MCP in every revision."""

    name = "mcp"

    def __init__(self, new_service: partial[McpService], max_batch: int) -> None:
        self._new_service = new_service
        self._max_batch = max_batch

    def check_tool(self, tool: Tool) -> None:
        """Reject a tool that clients would ignore because of invalid annotations in its input schema."""
        # most hosts have no such tool, and do not pay for the import
        if b'"x-mcp-header"' in encode(tool.input_schema):
            from pegboard_plugins.protocols.mcp.mirrored_arguments import mirrored_arguments

            mirrored_arguments(tool.input_schema)

    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> int:
        """Answer every message until the connection ends. Then finish running requests, or cancel them."""
        service = self._new_service(host, transport=connection.transport)
        conversation = StreamConnection(connection, service, self._max_batch, caller)
        try:
            async for message in messages:
                if conversation.is_full:
                    await conversation.wait_for_room()
                if conversation.sent >= MAX_UNREAD_RESPONSES:
                    conversation.sent = 0
                    await connection.drain()
                conversation.receive(message)
            if connection.finishes:
                await conversation.finish()
        finally:
            unanswered = await conversation.end()
        return unanswered


class StreamConnection:
    """The state of one connection: its session, if any, and its requests in flight.

    Attributes:
        sent: the number of responses since the client was last waited for.
    """

    def __init__(self, connection: Connection, service: McpService, max_batch: int, caller: Caller) -> None:
        self.sent = 0
        self._connection = connection
        self._caller = caller
        self._service = service
        self._max_batch = max_batch
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._session: Session | None = None
        self._running: dict[RequestId, RunningRequest] = {}
        self._room = asyncio.Event()
        self._writer = ConnectionWriter(connection)
        self._send_queue = SendQueue(connection, self._writer, self._room.set)
        service.queues.add(self._send_queue)
        self._subscriptions = ConnectionSubscriptions(connection, service, self._writer, caller)
        self._notifier: ListChangedNotifier | None = None

    @property
    def is_full(self) -> bool:
        """True if the limit of requests in flight is reached."""
        return len(self._running) + self._send_queue.kept >= MAX_REQUESTS_IN_FLIGHT

    async def wait_for_room(self) -> None:
        """Wait until a request ends. The wait is limited, because a cancellation may be among the unread messages."""
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_CAPACITY_WAIT_SECONDS):
                while self.is_full:
                    self._room.clear()
                    await self._room.wait()

    def receive(self, data: bytes) -> None:
        """Handle one message, or a batch."""
        try:
            message, repeated = decode_message(data)
        except ValueError:
            self._refuse(None, PARSE_ERROR, "The message is not valid JSON (UTF-8, no NaN, at most 200 levels).")
            return
        if repeated:
            self._refuse(readable_id(message), INVALID_REQUEST, "The message repeats a member: send each member once.")
        elif type(message) is list:
            self._receive_batch(message)
        else:
            self._receive_one(message, self._send)

    async def finish(self) -> None:
        """Wait until every request in flight is answered. Fail requests to the disconnected client."""
        if self._session is not None:
            self._session.end()
        while self._running:
            await asyncio.wait([running.task for running in self._running.values()])
        self._send_queue.end()

    async def end(self) -> int:
        """End the subscriptions, cancel requests in flight, and wait briefly for their cleanup.

        Returns:
            The number of requests that run, or whose responses wait for the client.
        """
        unanswered = len(self._running) + self._send_queue.kept
        tasks = [running.task for running in self._running.values()]
        for running in self._running.values():
            running.end()
        self._subscriptions.end()
        self._send_queue.end()
        self._writer.end()
        if self._notifier is not None:
            self._service.changes.remove(self._notifier)
        self._running.clear()
        self._service.end()
        if self._session is not None:
            self._session.end()
            self._service.host.session_ended(self._session)
        if tasks:
            await asyncio.wait(tasks, timeout=CLEANUP_SECONDS)
        return unanswered

    # --- one message ---

    def _receive_one(self, message: Any, reply: Reply, *, batched: bool = False) -> None:
        try:
            kind = message_type(message)
            if kind == "request":
                self._request(message["id"], message["method"], params_of(message), reply, batched=batched)
            elif kind == "notification":
                self._notification(message["method"], message.get("params"))
            elif self._session is not None:
                self._session.requests.settle(message)
        except MCPError as error:
            code, data = (error.code, error.data) if isinstance(error, ProtocolError) else (INTERNAL_ERROR, None)
            reply(jsonrpc_error(code, error.message, readable_id(message), data))

    def _request(self, request_id: RequestId, method: str, params: Any, reply: Reply, *, batched: bool) -> None:
        if request_id in self._running or request_id in self._subscriptions.open:
            raise ProtocolError(INVALID_REQUEST, "A request with this id is still in flight: use another id.")
        if is_stateless(params):
            if batched:
                raise ProtocolError(
                    INVALID_REQUEST, "This revision does not support batches: send each message separately."
                )
            self._stateless_request(request_id, method, params, reply)
        elif method == "initialize":
            if batched:
                raise ProtocolError(INVALID_REQUEST, "initialize must not be part of a batch.")
            self._initialize(request_id, params, reply)
        elif method == "ping":
            reply(jsonrpc_result(request_id, b"{}"))
        elif self._session is None:
            raise ProtocolError(
                INVALID_REQUEST,
                f"Not initialized: send initialize, or {PROTOCOL_VERSION} in params._meta of each request.",
                {"supported": list(SUPPORTED_REVISIONS)},
            )
        elif method == "resources/subscribe" and (
            refused := self._service.refused_subscription(request_id, params, self._session.client, self._caller)
        ):
            reply(self._service.response(*refused))
        elif (response := answer_at_once(self._session, request_id, method, params)) is not None:
            reply(response)
        else:
            self._start(request_id, method, params, self._session.client, reply, self._session)

    def _stateless_request(self, request_id: RequestId, method: str, params: Any, reply: Reply) -> None:
        client = read_client(params["_meta"])
        require_stateless(client)
        if method == "server/discover":
            reply(self._service.discovery(request_id))
        elif method == "subscriptions/listen":
            self._subscriptions.begin(request_id, params, client)
        else:
            self._start(request_id, method, params, client, reply)

    def _initialize(self, request_id: RequestId, params: Any, reply: Reply) -> None:
        if self._session is not None:
            raise ProtocolError(INVALID_REQUEST, "This session is already initialized.")
        self._session = Session(negotiate(params))
        self._session.log_limit = self._service.log_limit()
        reply(self._service.handshake(request_id, self._session))
        self._service.session_started(self._session, self._session, self._caller)
        self._notifier = ListChangedNotifier(self._session, self._writer)
        self._service.changes.add(self._notifier)

    def _notification(self, method: str, params: Any) -> None:
        """Handle a cancellation or a progress notification. Dispatch every notification to plugins."""
        if method == "notifications/cancelled" and isinstance(params, dict):
            request_id = params.get("requestId")
            if is_request_id(request_id):
                self._cancel(request_id, params.get("reason", "no reason"))
        elif method == "notifications/progress" and self._session is not None:
            self._session.requests.report_progress(params)
        self._service.dispatch_notification(method, params, self._caller, self._session)

    def _cancel(self, request_id: RequestId, reason: object) -> None:
        running = self._running.pop(request_id, None)
        if running is None:
            self._subscriptions.cancel(request_id)
            return
        logger.info("request %r cancelled by the client: %s", request_id, reason)
        if self._session is not None:
            self._session.withdraw(running)
        running.cancel()

    # --- calls ---

    def _start(
        self,
        request_id: RequestId,
        method: str,
        params: Any,
        client: Client,
        reply: Reply,
        session: Session | None = None,
    ) -> None:
        if self.is_full:
            raise ProtocolError(
                INTERNAL_ERROR, f"{MAX_REQUESTS_IN_FLIGHT} requests are in flight: wait for a response."
            )
        running, peer = RunningRequest(self._send_queue, self._loop, self._thread, reply), self._connection.peer
        call = self._service.call(request_id, method, params, client, self._caller, running, session, peer=peer)
        self._running[request_id] = running
        running.task = self._loop.create_task(self._answer(call, request_id, running))

    async def _answer(self, call: Call, request_id: RequestId, running: RunningRequest) -> None:
        """Run a call and respond. A cancelled call gets no response."""
        response = None
        try:
            response = self._service.response(call, await self._service.host.dispatch(call))
            if running.progress is not None:
                running.response = response
                await self._deliver(running.progress)
        except BaseException as error:
            if running.open and response is None:
                response = jsonrpc_error(INTERNAL_ERROR, "Internal error", request_id)
            if not isinstance(error, asyncio.CancelledError):
                logger.exception("the response to a call of %s failed", call.method)
        self._room.set()
        if running.open:
            if self._session is not None:
                self._session.withdraw(running)
            running.open = False
            del self._running[request_id]
            running.reply(response)

    async def _deliver(self, progress: ProgressReports) -> None:
        """Send the last progress report of a call. Wait for the client to read it before the response.

        The TypeScript SDK 1.x drops a progress report that it reads together with the response.
        """
        progress.end()
        if not progress.used:
            return
        for _ in range(MAX_DELIVERY_TURNS):
            await asyncio.sleep(0)
            if self._send_queue.empty:
                break
        await self._connection.delivered()

    def _send(self, response: bytes | None) -> None:
        if response is not None:
            self.sent += 1
            self._send_queue.send(response, keep=True)

    def _refuse(self, request_id: RequestId | None, code: int, message: str) -> None:
        self._send(jsonrpc_error(code, message, request_id))

    # --- batches (2025-03-26, basic) ---

    def _receive_batch(self, messages: list[Any]) -> None:
        if self._session is None or self._session.client.revision != BATCH_REVISION:
            self._refuse(None, INVALID_REQUEST, f"Batches are supported in revision {BATCH_REVISION} only.")
        elif not 0 < len(messages) <= self._max_batch:
            self._refuse(None, INVALID_REQUEST, f"A batch must have 1 to {self._max_batch} messages.")
        else:
            replies = BatchReply(messages, self._send)
            for message in messages:
                self._receive_one(message, replies, batched=True)


# --- requests in flight


Reply = Callable[[bytes | None], None]
"""A function that sends the response to one request. None means no response."""


class RunningRequest:
    """A request in flight. Messages reach the connection until the request is answered or cancelled.

    Attributes:
        open: True until the request is answered or cancelled.
        progress: the progress reports, if the client requests them.
        reply: the function that sends the response.
        response: the response, while it waits for the client to read the last report.
        task: the task that runs the call.
    """

    __slots__ = ("_loop", "_send_queue", "_thread", "open", "progress", "reply", "response", "task")

    task: asyncio.Task[None]

    def __init__(self, backlog: SendQueue, loop: asyncio.AbstractEventLoop, thread: int, reply: Reply) -> None:
        self._send_queue = backlog
        self._loop = loop
        self._thread = thread
        self.open = True
        self.reply = reply
        self.response: bytes | None = None
        self.progress: ProgressReports | None = None

    def send(self, message: bytes, *, keep: bool = False) -> None:
        if get_ident() != self._thread:
            self._loop.call_soon_threadsafe(partial(self.send, message, keep=keep))
        elif self.open:
            self._send_queue.send(message, keep=keep)

    def end(self) -> None:
        """Send the response if it waits. Cancel the task, and send no later messages."""
        self.open = False
        self.task.cancel()
        self.reply(self.response)

    def cancel(self) -> None:
        """Cancel the task, and send no further messages and no response. A batch waits for it no longer."""
        self.response = None
        self.end()


class BatchReply:
    """The responses to a batch, sent as one array when all are complete."""

    def __init__(self, messages: Sequence[object], send: Callable[[bytes], None]) -> None:
        self._missing = sum(map(requires_response, messages))
        self._send = send
        self._responses: list[bytes] = []

    def __call__(self, response: bytes | None) -> None:
        self._missing -= 1
        if response is not None:
            self._responses.append(response)
        if self._missing == 0 and self._responses:
            self._send(b"[" + b",".join(self._responses) + b"]")
