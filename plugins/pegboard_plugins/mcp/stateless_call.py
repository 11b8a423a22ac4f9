"""A call of 2026-07-28 over HTTP: answered with JSON, or with a stream if it says something before it ends.

A peer that takes nothing but streams gets one, but not before something is said or the call has taken its time: by then
it would have been refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from pegboard.plugin import INTERNAL_ERROR, jsonrpc_error
from pegboard.types import EventStream, RequestId, Response
from pegboard_plugins.mcp.message_queue import MessageQueue

if TYPE_CHECKING:
    from pegboard_plugins.mcp.progress_reports import ProgressReports

COMMIT_SECONDS: Final = 15.0
"""After how long a call that has said nothing is answered with a stream, which can be kept alive."""

STREAM_HEADERS: Final = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


def cut_response(request_id: RequestId | None) -> bytes:
    """The response to a call that is cut when the server stops. It may have had effects, so it invites no retry."""
    return jsonrpc_error(INTERNAL_ERROR, "The server is stopping; the call was cut before its end.", request_id)


class StatelessCall:
    """A call that runs, and its messages on their way to the peer. The end of the peer is the end of the call.

    Attributes:
        head: the status and the fields that its response goes out with, while there are still some to choose.
        progress: the call's reports of its progress, if its client wants them.
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
        """Whether anything may still be sent for the call."""
        return not self._queue.closed

    def send(self, message: bytes, *, keep: bool = False) -> None:
        """Queue a message, from any thread."""
        self._queue.send(message, keep=keep)

    async def respond(self, answer: Coroutine[Any, Any, bytes], *, streamed: bool) -> Response | EventStream:
        """Run the call in a task of its own; what goes back to the peer.

        Args:
            answer: ends with the encoded response.
            streamed: the peer takes nothing but an event stream.
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
        """The peer is gone, or has all."""
        self._queue.close(drop=True)
        self._task.cancel()
