"""Requests in flight on a message stream, and batches that wait for all their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING

from pegboard_plugins.protocols.mcp.jsonrpc_messages import requires_response

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.connection_writer import SendQueue
    from pegboard_plugins.protocols.mcp.progress_reports import ProgressReports

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
