"""A call of a session over HTTP. The response is JSON, or a stream if the call sends messages or takes long.

It continues when its client disconnects, because the client may resume the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pegboard.types import EventStream, Response
from pegboard_plugins.protocols.mcp.http.error_responses import (
    OK_HEAD,
    SessionDeletedError,
    StoreUnavailableError,
    protocol_error_response,
)
from pegboard_plugins.protocols.mcp.http.http_session import HttpSession
from pegboard_plugins.protocols.mcp.http.session_stream import (
    CALL_STREAM_PREFIX,
    SessionStream,
    StreamRetention,
    call_stream_prefix,
)
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue
from pegboard_plugins.protocols.mcp.stateless_call import COMMIT_SECONDS, STREAM_HEADERS, cut_response
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, RequestId, jsonrpc_error

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.progress_reports import ProgressReports

ACCEPTED: Final = Response(202)


class SessionCall:
    """A running call, and the channel for its messages.

    Attributes:
        head: the status and header fields of a response that is not streamed.
        progress: the call's progress reports, if its client requests them.
    """

    __slots__ = (
        "_in_events",
        "_queue",
        "_response",
        "_session",
        "_stream",
        "_streamed",
        "_task",
        "head",
        "progress",
        "request_id",
    )

    _task: asyncio.Task[None]

    def __init__(self, request_id: RequestId, session: HttpSession) -> None:
        self.request_id = request_id
        self.head = OK_HEAD
        self.progress: ProgressReports | None = None
        self._session = session
        self._queue = MessageQueue()
        self._stream: SessionStream | None = None  # most calls need none
        self._response: bytes | None = None
        self._streamed = False
        self._in_events = False

    @property
    def open(self) -> bool:
        return not self._queue.closed

    def send(self, message: bytes, *, keep: bool = False) -> None:
        self._queue.send(message, keep=keep)

    def start(self, answer: Callable[[], Coroutine[Any, Any, bytes]]) -> None:
        """Run the call in a new task.

        Args:
            answer: returns the encoded response. It is not called if the call is cancelled before its first step.
        """
        self._session.running[self.request_id] = self
        self._task = asyncio.create_task(self._run(answer))

    async def _run(self, answer: Callable[[], Coroutine[Any, Any, bytes]]) -> None:
        try:
            response = await answer()
            if self._session.fields.unsaved:
                await self._session.sessions.settle(self._session, self)  # the client may rely on it
            self._end(response)
        except StoreUnavailableError as error:  # what the call wrote is not stored
            away = protocol_error_response(error, self.request_id)
            self._end(away.body, away)
        except BaseException:
            self._end(jsonrpc_error(INTERNAL_ERROR, "Internal error", self.request_id), Response(500))
            raise
        finally:
            self._queue.close()
            if self._session.running.get(self.request_id) is self:
                del self._session.running[self.request_id]
            if self._stream is not None or not self._session.held:
                await self._rest()

    def _end(self, response: bytes, head: Response | None = None) -> None:
        """Send the response, unless the call has ended already."""
        if self._queue.closed:
            return
        self._session.withdraw(self)
        self._response = response
        self.head = head or self.head
        if self._streamed or self._in_events or not self._queue.empty:
            self._queue.send(response, keep=True)

    async def _rest(self) -> None:
        """Store unread messages if no client reads the stream. Release the session."""
        stream = self._stream
        if stream is not None:
            if stream.reader is not None:
                return
            if self._session.streams.get(stream.id) is stream:
                await stream.keep_rest()
                self._session.streams.pop(stream.id, None)
        if not self._session.held:
            await self._session.sessions.settle(self._session)

    def cancel(self) -> None:
        """Cancel the call for its client. The client receives only cancellations of the call's own requests."""
        self._queue.clear()
        self._session.withdraw(self)
        self._queue.close()
        self._task.cancel()

    def end_with_session(self) -> None:
        """End the call with an error, because the client deleted the session."""
        self._end_with(protocol_error_response(SessionDeletedError(), self.request_id))

    def cut(self) -> None:
        """End the call with an error, because the host stops."""
        self._end_with(Response(503, cut_response(self.request_id)))

    def _end_with(self, refused: Response) -> None:
        self._end(refused.body, refused)
        self._queue.close()
        self._task.cancel()

    async def response(self) -> bytes | None:
        """Return the response and drop other messages. Return None if the call was cancelled."""
        while self.open:
            await self._queue.wait()
            self._queue.clear()
        return self._response

    async def until_ready(self, *, json: bool, events: bool) -> None:
        """Wait until the call sends a message, ends, or takes so long that a stream is required.

        Args:
            json: the client accepts JSON.
            events: the client accepts an event stream.
        """
        self._in_events = not json
        await asyncio.sleep(0)  # most calls have ended after this turn
        timer = None
        if events and self.open:
            seconds = min(COMMIT_SECONDS, self._session.retention.poll_seconds or COMMIT_SECONDS)
            timer = asyncio.get_running_loop().call_later(seconds, self._commit)
        try:
            while self.open and self._queue.empty and not self._streamed:
                await self._queue.wait()
        finally:
            if timer is not None:
                timer.cancel()

    def ready_response(self, *, json: bool) -> Response | None:
        """Return the HTTP response: 202 if the client has cancelled the call. Return None if it is a stream."""
        head = self.head
        if self._streamed or (head.status == 200 and not (json and self._queue.empty)):
            return None
        if self._response is None:
            return ACCEPTED
        return Response(head.status, self._response, head.content_type, head.headers)

    def stream(self, *, repeatable: bool) -> EventStream:
        """Return the HTTP response as a stream, which may have only begun.

        Args:
            repeatable: True if repeating the call has no further effect.
        """
        self._streamed = True
        session = self._session
        kind = call_stream_prefix(self.request_id, repeatable=repeatable)
        # without the request's id the stream cannot be resumed
        retention = session.retention if kind else StreamRetention(None)
        stream = self._stream = SessionStream(
            session.id, retention, kind or CALL_STREAM_PREFIX, queue=self._queue, on_left=self._left
        )
        if retention.store is not None and not session.closed:
            session.streams[stream.id] = stream
        if retention.shared is not None:
            session.sessions.follow(self._task)
        cut = partial(cut_response, self.request_id)
        return EventStream(messages=stream.read(polled=True), headers=STREAM_HEADERS, cut=cut)

    def _commit(self) -> None:
        if self.open:  # a finished response is sent alone
            self._streamed = True
            self._queue.wake()

    def _left(self, _: SessionStream) -> None:
        if not self.open:
            self._session.sessions.run(self._rest())
