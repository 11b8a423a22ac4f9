"""Requests in flight on a message stream, and batches that wait for all of their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING

from pegboard.plugin import ProtocolError
from pegboard_plugins.mcp.jsonrpc_messages import message_type

if TYPE_CHECKING:
    from pegboard_plugins.mcp.progress_reports import ProgressReports
    from pegboard_plugins.mcp.send_queue import SendQueue


Reply = Callable[[bytes | None], None]
"""Takes the response to one request; None if there must not be one."""


class RunningRequest:
    """A request in flight. Its messages go to the connection until it is answered or cancelled.

    Attributes:
        open: True until it is answered or cancelled.
        progress: the progress reports, if its client requests them.
        reply: takes the response.
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
        """Send a message, from any thread."""
        if get_ident() != self._thread:
            self._loop.call_soon_threadsafe(partial(self.send, message, keep=keep))
        elif self.open:
            self._send_queue.send(message, keep=keep)

    def end(self) -> None:
        """Send the response if it waits, and nothing more."""
        if self.response is not None:
            self.reply(self.response)
        self.cancel()

    def cancel(self) -> None:
        """Send nothing more, and cancel the task."""
        self.open = False
        self.task.cancel()


def _wants_reply(message: object) -> bool:
    """Return True if a message of a batch gets a response: a request, or an invalid message."""
    try:
        return message_type(message) == "request"
    except ProtocolError:
        return True


class BatchReply:
    """The responses to a batch, sent as one array when the last one is there."""

    def __init__(self, messages: Sequence[object], send: Callable[[bytes], None]) -> None:
        self._missing = sum(map(_wants_reply, messages))
        self._send = send
        self._responses: list[bytes] = []

    def __call__(self, response: bytes | None) -> None:
        self._missing -= 1
        if response is not None:
            self._responses.append(response)
        if self._missing == 0 and self._responses:
            self._send(b"[" + b",".join(self._responses) + b"]")
