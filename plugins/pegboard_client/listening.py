"""Change notifications in 2026-07-28: one `subscriptions/listen` request that stays open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard.errors import AuthorizationRequiredError, MCPError, TransportError
from pegboard_client.client_errors import UnreachableError
from pegboard_client.in_flight import Message
from pegboard_client.reconnecting import MAX_UNREACHED, reconnect_delay

if TYPE_CHECKING:
    from pegboard_client.server_connection import ServerConnection

logger = logging.getLogger("pegboard.client")

LIST_CHANGES = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
"""The members of the filter for lists, each with its notification."""
STABLE_SECONDS = 5.0
"""A request that ends earlier counts as a failure, even if the server has acknowledged it."""


class Listening:
    """The subscriptions of a client: to lists, and to the resources of its connection.

    Args:
        connection: the connection.

    Attributes:
        lists: True to subscribe to changes of lists.
    """

    def __init__(self, connection: ServerConnection) -> None:
        self.lists = False
        self._connection = connection
        self._open_request: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._updating = asyncio.Lock()

    async def begin(self) -> None:
        """Add changes of lists to the subscriptions.

        Raises:
            ProtocolError: the server refused the subscriptions.
            TransportError: the connection was lost.
        """
        self.lists = True
        try:
            await self.update()
        except BaseException:
            self.lists = False
            raise

    async def update(self) -> None:
        """Listen to the current subscriptions, and then end the request for the previous subscriptions.

        Raises:
            ProtocolError: the server refused the subscriptions.
            TransportError: the connection was lost.
            ServerTimeoutError: the server did not acknowledge them in time.
        """
        async with self._updating:
            previous = self._open_request
            self._open_request = await self._opened() if self.lists or self._connection.uris else None
            if previous is not None:
                previous.cancel()

    async def close(self) -> None:
        """End all requests."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _opened(self) -> asyncio.Task[None]:
        """Return the task of a request that the server has acknowledged."""
        loop = asyncio.get_running_loop()
        acknowledged: asyncio.Future[None] = loop.create_future()
        task = loop.create_task(self._keep_open(self._filter(), acknowledged))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: _give_up(acknowledged))
        try:
            await self._connection.in_time(acknowledged, "subscriptions/listen")
        except BaseException:
            task.cancel()
            raise
        return task

    def _filter(self) -> Message:
        wanted: Message = dict.fromkeys(LIST_CHANGES, True) if self.lists else {}
        return {**wanted, "resourceSubscriptions": sorted(self._connection.uris)} if self._connection.uris else wanted

    async def _keep_open(self, wanted: Message, acknowledged: asyncio.Future[None]) -> None:
        """Keep the request open. Repeat it when its stream is lost. Report a server that cannot be reached.

        If the server requires a login, wait until it accepts another request.
        """
        failures, unreached, is_told, now = 0, 0, False, asyncio.get_running_loop().time
        while True:
            flight = self._connection.open_ended_flight("subscriptions/listen", {"notifications": wanted})
            heard, began = asyncio.get_running_loop().create_future(), now()
            flight.may_log_in = not acknowledged.done()
            flight.notified = _acknowledge(heard, acknowledged, self._connection.report_changes)
            try:
                await self._connection.send(flight)
            except MCPError as error:
                if not acknowledged.done():
                    acknowledged.set_exception(error)
                    return
                unreached = unreached + 1 if isinstance(error, UnreachableError) else 0
                if unreached == MAX_UNREACHED:
                    self._connection.lose(error.message)
                if not is_told and not isinstance(error, TransportError):
                    logger.warning("%s; changes are not received until it accepts a request", error)
                    is_told = True
                if isinstance(error, AuthorizationRequiredError):
                    await self._connection.accepts()
            is_stable = heard.done() and now() - began >= STABLE_SECONDS
            failures, is_told = (0, False) if is_stable else (failures + 1, is_told)
            await asyncio.sleep(reconnect_delay(failures))


def _give_up(acknowledged: asyncio.Future[None]) -> None:
    if not acknowledged.done():
        acknowledged.set_exception(TransportError("the client is closed"))
        acknowledged.exception()  # it may have no awaiter


def _acknowledge(
    heard: asyncio.Future[None], acknowledged: asyncio.Future[None], missed: Callable[[], Any]
) -> Callable[..., None]:
    """Return a function that notes an acknowledgement. After a reconnect, notifications may have been lost."""

    def acknowledge(*_: object) -> None:
        if not heard.done():
            heard.set_result(None)
            if acknowledged.done():
                missed()
            else:
                acknowledged.set_result(None)

    return acknowledge
