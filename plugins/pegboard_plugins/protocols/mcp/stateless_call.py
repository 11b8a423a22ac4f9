"""A call of 2026-07-28 over HTTP. The response is JSON, or a stream if the call sends a message before it ends.

A client that accepts only streams gets a stream, but not before the call sends a message or has run for a while. Until
then the call can still be rejected with a status.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from pegboard.types import EventStream, Response
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, RequestId, jsonrpc_error

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.progress_reports import ProgressReports

COMMIT_SECONDS: Final = 15.0
"""How long a call runs without messages before its response begins as a stream with keep-alive comments."""

STREAM_HEADERS: Final = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


def cut_response(request_id: RequestId | None) -> bytes:
    """Return the response to a call that was cancelled because the server stops.

    It has no Retry-After, because the call may have had effects.
    """
    return jsonrpc_error(INTERNAL_ERROR, "The server is stopping; the call was cancelled before its end.", request_id)


class StatelessCall:
    """A running call and its messages to the client. The call ends with its connection.

    Attributes:
        head: the status and header fields of the response, until the response begins.
        progress: the call's progress reports, if its client requests them.
    """

    __slots__ = ("_answered", "_queue", "_request_id", "_task", "head", "progress")

    _task: asyncio.Task[bytes]

    def __init__(self, request_id: RequestId | None = None) -> None:
        self._request_id = request_id
        self._queue = MessageQueue()
        self._answered = False
        self.head = Response()
        self.progress: ProgressReports | None = None

    @property
    def open(self) -> bool:
        return not self._queue.closed

    def send(self, message: bytes, *, keep: bool = False) -> None:
        self._queue.send(message, keep=keep)

    async def respond(self, answer: Coroutine[Any, Any, bytes], *, streamed: bool) -> Response | EventStream:
        """Run the call in a new task and return the response.

        Args:
            answer: returns the encoded response.
            streamed: the client accepts only an event stream.
        """
        self._task = asyncio.create_task(answer)
        self._task.add_done_callback(lambda _: self._queue.close())
        timer = asyncio.get_running_loop().call_later(COMMIT_SECONDS, self._queue.wake) if streamed else None
        try:
            await self._queue.wait()
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        finally:
            if timer is not None:
                timer.cancel()
        if self._task.done() and (self.head.status != 200 or not (streamed or not self._queue.empty)):
            return self.head._replace(body=self._task.result())
        return EventStream(messages=self, headers=STREAM_HEADERS, cut=partial(cut_response, self._request_id))

    # --- the stream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._answered:
            if (message := self._queue.pop()) is not None:
                return message
            if self._task.done():
                self._answered = True
                return self._task.result()
            await self._queue.wait()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Cancel the call. The client has disconnected or read the whole stream."""
        self._queue.close(drop=True)
        self._task.cancel()
