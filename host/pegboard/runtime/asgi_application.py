"""The ASGI application of a host: its lifespan, and the requests that it passes on to a transport."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.errors import MCPError, TransportError
from pegboard.messages.error_fields import describe_error
from pegboard.plugin.transports import AsgiCallable, AsgiReceive, AsgiScope, AsgiSend
from pegboard.runtime.lifespans import Entered

if TYPE_CHECKING:
    from pegboard.host import Host

logger = logging.getLogger("pegboard")

_NOT_STARTED = (
    "the host is not started: enter it in the lifespan of the application in which it is mounted (`async with host:`), "
    "or let the ASGI server run the lifespan of `host.asgi()`"
)


class AsgiApplication:
    """The routes of a host as an ASGI 3 application.

    Under an ASGI server, the lifespan of the application starts and stops the host. A host that is started already is
    neither started nor stopped.

    Args:
        host: the host.
        entered: the contexts that the host leaves when it stops.
    """

    def __init__(self, host: Host, entered: Entered) -> None:
        self._host = host
        self._entered = entered
        self._served: AsgiCallable | None = None
        self._opening = asyncio.Lock()

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Serve a lifespan or a request. Refuse a WebSocket."""
        kind = scope["type"]
        if kind == "http":
            reason = "" if self._served else await self._why_closed()
            await (_refusal(reason) if self._served is None else self._served)(scope, receive, send)
        elif kind == "lifespan":
            await self._live(receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})
        else:
            raise ValueError(f"the host serves no ASGI connection of the type {kind!r}")

    async def open(self) -> None:
        """Open the application of the started host, unless it is open.

        Raises:
            TransportError: no enabled transport serves ASGI, or more than one.
            ConfigError: the routes may not be served.
            PluginError: a store cannot be opened.
        """
        if self._served is not None:
            return
        async with self._opening:
            if self._served is None:
                stack = AsyncExitStack()
                self._served = await stack.enter_async_context(self._transport_context())
                stack.push_async_callback(self._end)
                self._entered.append(("the ASGI application", stack))

    async def _why_closed(self) -> str:
        """Open the application if the host was started before it. Return the reason if it stays closed."""
        if self._host.for_transports.stopping:
            return "is stopping"
        if not self._host.started:
            logger.error(_NOT_STARTED)
            return "is not started"
        try:
            await self.open()
        except MCPError as error:
            logger.error("the host cannot be served: %s", error)
            return "cannot be served; its log has the reason"
        return ""

    async def _end(self) -> None:
        """Refuse requests from now on."""
        self._served = None
        await self._host.drain(0)

    def _transport_context(self) -> AbstractAsyncContextManager[AsgiCallable]:
        transports = self._host.assembly.transports
        contexts = {
            name: context
            for name, transport in transports.items()
            if (context := transport.asgi(self._host.for_transports))
        }
        if len(contexts) != 1:
            names = (
                f"several transports serve it: {', '.join(contexts)}" if contexts else "no enabled transport serves it"
            )
            raise TransportError(f"ASGI requires one transport, but {names}; see [host] transports and the plugin http")
        (context,) = contexts.values()
        return context

    async def _live(self, receive: AsgiReceive, send: AsgiSend) -> None:
        await receive()
        owned = not self._host.started
        try:
            if owned:
                await self._host.start()
            await self.open()
        except Exception as error:
            if not isinstance(error, MCPError):
                logger.exception("the host cannot start")
            await send({"type": "lifespan.startup.failed", "message": describe_error(error)})
            return
        try:
            await send({"type": "lifespan.startup.complete"})
            await receive()
            if owned:
                await self._host.drain(self._host.config.host.grace_seconds)
        finally:  # some servers cancel the lifespan
            if owned:
                await self._host.stop()
        await send({"type": "lifespan.shutdown.complete"})


def _refusal(reason: str) -> AsgiCallable:
    """Return an application that refuses a request."""

    async def refuse(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        headers = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": f"The host {reason}.\n".encode()})

    return refuse
