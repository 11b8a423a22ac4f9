"""Messages that wait for the client of a message stream: of calls, and of changes for a session and subscriptions.

Messages are sent no faster than the client reads. A task runs only while messages wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.plugin import Connection, ProtocolError
from pegboard.types import Caller, Change, Client
from pegboard_plugins.protocols.mcp.change_broadcaster import notification
from pegboard_plugins.protocols.mcp.mcp_service import McpService
from pegboard_plugins.protocols.mcp.message_queue import MessageQueue
from pegboard_plugins.protocols.mcp.session import Session
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, RequestId, jsonrpc_notification

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.subscriptions import ClientSubscription

MAX_CONNECTION_SUBSCRIPTIONS = 100
"""The largest number of subscriptions of one connection."""


class ConnectionWriter:
    """A writer that moves messages from queues to a connection as fast as its peer reads them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._due: dict[MessageQueue, Callable[[], None] | None] = {}
        self._task: asyncio.Task[None] | None = None

    def write_soon(self, queue: MessageQueue, written: Callable[[], None] | None = None) -> None:
        """Schedule the messages of a queue to be written. Call `written` afterwards."""
        self._due[queue] = written
        if self._task is None:
            self._task = asyncio.create_task(self._write())

    def write_all(self, queue: MessageQueue) -> None:
        """Write all messages of a queue at once."""
        self._due.pop(queue, None)
        while (message := queue.pop()) is not None:
            self._connection.send(message)

    def end(self) -> None:
        """Write nothing more."""
        self._due.clear()
        if self._task is not None:
            self._task.cancel()

    async def _write(self) -> None:
        try:
            while self._due:
                await self._connection.drain()
                self._write_one()
        finally:
            self._task = None

    def _write_one(self) -> None:
        queue = next(iter(self._due), None)
        if queue is None:
            return
        written = self._due.pop(queue)
        if (message := queue.pop()) is not None:
            self._due[queue] = written  # last, so that a queue that is never empty does not delay others
            self._connection.send(message)
        elif written is not None:
            written()


class SendQueue(MessageQueue):
    """The messages of calls that wait until the client has read earlier messages.

    Beyond its limits, the queue drops the oldest progress and log messages, but never responses or requests. Messages
    that must be kept are sent directly while the queue is empty.

    Args:
        connection: the connection to the client.
        writer: the writer of queued messages.
        on_empty: a function that is called when the queue is empty again.
    """

    def __init__(self, connection: Connection, writer: ConnectionWriter, on_empty: Callable[[], None]) -> None:
        super().__init__()
        self._connection = connection
        self._writer = writer
        self._on_empty = on_empty

    def send(self, message: bytes, *, keep: bool = False, key: Hashable | None = None) -> None:
        """Send a message, or queue it if others wait. Call on the event loop only."""
        if keep and not self._queued:
            self._connection.send(message)
        else:
            super().send(message, keep=keep, key=key)
            self._writer.write_soon(self, self._on_empty)

    def end(self) -> None:
        """Write all queued messages at once."""
        self._writer.write_all(self)


class ListChangedNotifier:
    """A listener that notifies the client of a session of changes. The session lasts as long as the connection."""

    def __init__(self, session: Session, writer: ConnectionWriter) -> None:
        self._session = session
        self._queue = MessageQueue()
        self._queue.on_message = partial(writer.write_soon, self._queue)

    @property
    def waiting(self) -> int:
        return self._queue.waiting

    @property
    def everything(self) -> list[Change]:
        return self._session.everything

    def changed(self, changes: Iterable[Change]) -> None:
        """Queue notifications that the client requested. Skip changes that are already queued."""
        for change in changes:
            if self._session.is_subscribed_to(change):
                self._queue.send(notification(change), key=change)

    def stop(self) -> None:
        self._queue.close()


class ConnectionSubscriptions:
    """The subscriptions of one connection (2026-07-28).

    Attributes:
        open: the open subscriptions, by the ids of their requests.
    """

    def __init__(self, connection: Connection, service: McpService, writer: ConnectionWriter, caller: Caller) -> None:
        self._caller = caller
        self._connection = connection
        self._service = service
        self._writer = writer
        self.open: dict[RequestId, ClientSubscription] = {}

    def begin(self, request_id: RequestId, params: Mapping[str, Any], client: Client) -> None:
        """Begin a subscription and send its acknowledgement.

        Raises:
            ProtocolError: the request is invalid, or there are too many subscriptions.
        """
        if len(self.open) >= MAX_CONNECTION_SUBSCRIPTIONS:
            raise ProtocolError(
                INTERNAL_ERROR, f"A connection may have at most {MAX_CONNECTION_SUBSCRIPTIONS} subscriptions."
            )
        subscription = self._service.listen(request_id, params, client, self._caller)
        self.open[request_id] = subscription
        self._writer.write_all(subscription.queue)
        subscription.queue.on_message = partial(
            self._writer.write_soon, subscription.queue, partial(self._on_written, subscription)
        )

    def cancel(self, request_id: RequestId) -> None:
        """End the subscription of `request_id` without a message. Ignore an unknown id."""
        if (subscription := self.open.pop(request_id, None)) is not None:
            subscription.cancel()

    def end(self) -> None:
        """End all subscriptions with their responses."""
        for subscription in tuple(self.open.values()):
            subscription.stop()
            self._writer.write_all(subscription.queue)
            self._on_written(subscription)

    def _on_written(self, subscription: ClientSubscription) -> None:
        """Remove a subscription that the server has ended, and send the cancellation that stdio requires."""
        request_id = subscription.request_id
        if subscription.queue.closed and self.open.get(request_id) is subscription:
            del self.open[request_id]
            self._connection.send(jsonrpc_notification("notifications/cancelled", {"requestId": request_id}))
