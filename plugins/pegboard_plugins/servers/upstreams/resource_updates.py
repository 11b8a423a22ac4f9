"""Subscriptions to resources of a mounted server: one for each URI, shared by the clients of the host."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard import Context, MCPError
from pegboard.plugin import ProtocolError

if TYPE_CHECKING:
    from pegboard_client import Client
    from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer

MAX_SUBSCRIBED_URIS = 1000
"""The maximum number of subscriptions at one server. The oldest subscription ends for a new one."""
FAILED_SECONDS = 30.0
"""The time until another attempt after a server could not accept a subscription."""
RETRY_SECONDS = 1.0
"""The time between two attempts to subscribe again after the connection was lost."""


class ResourceUpdates:
    """The subscriptions at one server.

    They last as long as the connection of the host, because the host does not know when the last client has left. A
    server with a connection for each caller gets no subscriptions: an update would reach other callers.

    Args:
        server: the server.
    """

    def __init__(self, server: UpstreamServer) -> None:
        self._server = server
        self._wanted: OrderedDict[str, Context[Any]] = OrderedDict()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def follow(self, uri: str, context: Context[Any]) -> None:
        """Subscribe to a resource in the background, unless there is a subscription."""
        if self._server.config.identity == "user" or uri in self._wanted:
            return
        if self._server.login is not None and not self._server.login.admits(context.caller):
            return
        self._wanted[uri] = context
        if len(self._wanted) > MAX_SUBSCRIBED_URIS:
            self._wanted.popitem(last=False)
        self._wake.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def updated(self, uri: object) -> None:
        """Tell the clients of the host that a resource has changed. Ignore resources that may be of another server."""
        if isinstance(uri, str) and (context := self._wanted.get(uri)) is not None:
            context.notifications.resources.updated(uri)

    async def close(self) -> None:
        """End the subscriptions."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))
            self._task = None

    async def _run(self) -> None:
        """Keep the subscriptions. After a loss of the connection, subscribe again and report all resources."""
        is_first = True
        while True:
            context = next(iter(self._wanted.values()))
            try:
                await self._server.use(context, partial(self._subscribe_all, report=not is_first))
                is_first = False
            except MCPError as error:
                self._server.logger.debug("%s: cannot subscribe: %s", self._server.name, error)
                await asyncio.sleep(RETRY_SECONDS)

    async def _subscribe_all(self, client: Client, *, report: bool) -> None:
        """Subscribe to the wanted resources, also to later resources, until the connection is lost."""
        subscribed: set[str] = set()
        closed = asyncio.ensure_future(client.wait_closed())
        closed.add_done_callback(lambda _: self._wake.set())
        try:
            while not closed.done():
                self._wake.clear()
                for uri in [*subscribed - self._wanted.keys()]:
                    subscribed.discard(uri)
                    await client.unsubscribe(uri)
                missing = [uri for uri in self._wanted if uri not in subscribed]
                subscribed |= await self._subscribe(client, missing)
                for uri in missing if report else ():
                    self.updated(uri)
                if not subscribed.issuperset(missing):
                    asyncio.get_running_loop().call_later(FAILED_SECONDS, self._wake.set)
                await self._wake.wait()
        finally:
            closed.cancel()

    async def _subscribe(self, client: Client, uris: Sequence[str]) -> set[str]:
        """Subscribe to resources with one request if possible. Return the resources, except those to try again."""
        if not uris:
            return set()
        try:
            await client.subscribe(*uris)
        except MCPError as error:
            self._server.logger.debug("%s: a subscription failed: %s", self._server.name, error)
            if not isinstance(error, ProtocolError):
                return set()
            if len(uris) > 1:  # the refusal of one
                return set().union(*[await self._subscribe(client, [uri]) for uri in uris])
        return set(uris)
