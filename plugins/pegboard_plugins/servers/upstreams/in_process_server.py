"""An ASGI application in this process: its lifespan, and HTTP requests to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextvars import Context as ContextVars
from typing import TYPE_CHECKING, Any

from pegboard.plugin import AsgiCallable, TransportError
from pegboard_plugins.servers.upstreams.in_process_request import InProcessRequest
from pegboard_plugins.servers.upstreams.mounted_objects import application_of, path_of
from pegboard_plugins.servers.upstreams.settings import ServerConfig

if TYPE_CHECKING:
    from pegboard_client import Endpoint

STOP_SECONDS = 5.0
"""How long the application may take to stop, and a request to end after its client has left."""


class InProcessServer:
    """A server that a program mounts. Its lifespan begins with the first connection.

    Args:
        name: the name of the server, for messages.
        config: its settings.
        logger: the log.
    """

    def __init__(self, name: str, config: ServerConfig, logger: logging.Logger) -> None:
        self._name = name
        self._server = config.object
        self._config = config
        self._logger = logger
        self._application: AsgiCallable | None = None
        self._state: dict[str, Any] = {}
        self._lifespan: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None
        self._stopping = asyncio.Event()
        self._requests: set[asyncio.Task[None]] = set()

    @property
    def endpoint(self) -> Endpoint:
        """The address for a new client. The application outlives the client."""
        from pegboard_client import Endpoint

        path = self._config.path or path_of(self._server)
        return Endpoint(f"http://127.0.0.1:80{path}", headers=self._config.fixed_headers, exchange=_Exchange(self))

    def request(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> InProcessRequest:
        """Return a request and its response."""
        return InProcessRequest(self, method, url, headers, body or b"")

    def run(self, request: InProcessRequest) -> asyncio.Task[None]:
        """Run a request in its own task, without the context variables of the calling host."""
        assert self._application is not None
        running = request.run(self._application, dict(self._state), self._logger)
        task = asyncio.get_running_loop().create_task(running, context=ContextVars())
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        return task

    async def start(self) -> None:
        """Start the application, unless it runs already.

        Raises:
            TransportError: the application cannot start.
        """
        if self._started is None or (self._started.done() and self._started.exception() is not None):
            loop = asyncio.get_running_loop()
            self._started = loop.create_future()
            self._stopping.clear()
            self._lifespan = loop.create_task(self._live(self._started), context=ContextVars())
        await asyncio.shield(self._started)

    async def close(self) -> None:
        """End all requests and stop the application."""
        for task in self._requests:
            task.cancel()
        if self._requests:
            await asyncio.wait(self._requests)
        self._stopping.set()
        if self._lifespan is not None:
            await asyncio.wait((self._lifespan,), timeout=STOP_SECONDS)
            self._lifespan.cancel()
            await asyncio.wait((self._lifespan,))
        self._started = self._lifespan = self._application = None

    async def _live(self, started: asyncio.Future[None]) -> None:
        events = iter(("lifespan.startup", "lifespan.shutdown"))

        async def receive() -> dict[str, Any]:
            event = next(events)
            if event == "lifespan.shutdown":
                await self._stopping.wait()
            return {"type": event}

        async def send(event: Mapping[str, Any]) -> None:
            if event["type"] == "lifespan.startup.failed":
                self._fail(started, event.get("message", ""))
            elif not started.done():
                started.set_result(None)

        self._state = {}
        try:
            self._application = application_of(self._server)
        except Exception as error:
            self._logger.exception("%s: the mounted server cannot be made an ASGI application", self._name)
            self._fail(started, f"{type(error).__name__}: {error}")
            return
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
        try:
            await self._application(scope, receive, send)
        except Exception:
            # an application that raises has no lifespan (ASGI); one that cannot start has sent the reason before
            level = logging.ERROR if self._stopping.is_set() else logging.DEBUG
            self._logger.log(level, "%s: the lifespan of the mounted server failed", self._name, exc_info=True)
        if not started.done():
            started.set_result(None)

    def _fail(self, started: asyncio.Future[None], message: str) -> None:
        if not started.done():
            reason = message.strip().splitlines()[-1:] or ["the reason is unknown"]
            started.set_exception(TransportError(f"the mounted server cannot start: {reason[0]}"))
            started.exception()  # its awaiter may be cancelled


class _Exchange:
    """Sends the HTTP requests of one client: a `pegboard_client.HttpExchange`."""

    def __init__(self, server: InProcessServer) -> None:
        self._server = server

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> InProcessRequest:
        return self._server.request(method, url, headers, body)

    async def close(self) -> None:
        """Do nothing: the application outlives the client."""
