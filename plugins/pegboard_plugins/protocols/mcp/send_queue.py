"""A limited queue for the messages of calls on a message stream, for clients that read slowly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pegboard.plugin import Connection
from pegboard_plugins.protocols.mcp.connection_writer import ConnectionWriter
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue


class SendQueue:
    """A queue of messages that wait until the client has read earlier messages.

    Beyond its limits, the queue drops the oldest progress and log messages, but never responses or requests. Messages
    are sent directly while the queue is empty.

    Args:
        connection: the connection to the client.
        writer: the writer of queued messages.
        on_empty: a function that is called when the queue is empty again.
    """

    def __init__(self, connection: Connection, writer: ConnectionWriter, on_empty: Callable[[], None]) -> None:
        self._connection = connection
        self._writer = writer
        self._on_empty = on_empty
        self._queue: MessageQueue | None = None

    @property
    def empty(self) -> bool:
        """True if no message waits."""
        return self._queue is None or self._queue.empty

    @property
    def waiting(self) -> int:
        """The number of waiting messages."""
        return 0 if self._queue is None else self._queue.waiting

    @property
    def kept(self) -> int:
        """The number of waiting messages that are never dropped."""
        return 0 if self._queue is None else self._queue.kept

    def send(self, message: bytes, *, keep: bool) -> None:
        """Send a message, or queue it if others wait.

        Args:
            message: the message.
            keep: never drop the message.
        """
        if self._queue is None:
            if keep:
                self._connection.send(message)
                return
            self._queue = MessageQueue()
            self._queue.on_message = partial(self._writer.write_soon, self._queue, self._on_empty)
        if keep and self._queue.empty:
            self._connection.send(message)
        else:
            self._queue.send(message, keep=keep)

    def end(self) -> None:
        """Write all queued messages at once."""
        if self._queue is not None:
            self._writer.write_all(self._queue)
