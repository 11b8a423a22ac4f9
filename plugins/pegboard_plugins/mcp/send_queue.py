"""What calls say on a message stream, on its way to a client that may read slowly: in order, and bounded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pegboard.plugin import Connection
from pegboard_plugins.mcp.connection_writer import ConnectionWriter
from pegboard_plugins.mcp.message_queue import MessageQueue


class SendQueue:
    """Messages of one connection that wait until its client has taken enough of those before.

    Of progress and of logs the oldest are dropped when too much waits; responses and questions never are. They need not
    wait where nothing else does, so that most calls have no use for a queue.

    Args:
        connection: where messages go.
        teller: passes on what waits.
        passed: told when nothing waits any more.
    """

    def __init__(self, connection: Connection, writer: ConnectionWriter, passed: Callable[[], None]) -> None:
        self._connection = connection
        self._writer = writer
        self._passed = passed
        self._queue: MessageQueue | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return self._queue is None or self._queue.empty

    @property
    def kept(self) -> int:
        """How many messages wait that are not dropped, whatever comes."""
        return 0 if self._queue is None else self._queue.kept

    def send(self, message: bytes, *, keep: bool) -> None:
        """Send a message, or queue it behind those that wait.

        Args:
            message: the message.
            keep: never drop it.
        """
        if self._queue is None:
            if keep:
                self._connection.send(message)
                return
            self._queue = MessageQueue()
            self._queue.on_message = partial(self._writer.tell, self._queue, self._passed)
        if keep and self._queue.empty:
            self._connection.send(message)
        else:
            self._queue.send(message, keep=keep)

    def end(self) -> None:
        """Pass on all that waits, at once."""
        if self._queue is not None:
            self._writer.now(self._queue)
