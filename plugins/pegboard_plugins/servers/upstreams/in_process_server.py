"""An ASGI application in this process: its lifespan, and HTTP requests to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextvars import Context as ContextVars
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from multidict import CIMultiDict

from pegboard.plugin import AsgiCallable, TransportError
from pegboard_client import Endpoint, HttpReply
from pegboard_plugins.servers.upstreams.mounted_objects import application_of, path_of
from pegboard_plugins.servers.upstreams.settings import ServerConfig

MAX_WAITING_CHUNKS = 16
"""The maximum number of parts of a body that wait for the client. Then the application waits too."""
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
        path = self._config.path or path_of(self._server)
        return Endpoint(f"http://127.0.0.1:80{path}", headers=self._config.fixed_headers, exchange=_Exchange(self))

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
        return InProcessRequest(self._server, method, url, headers, body or b"")

    async def close(self) -> None:
        """Do nothing: the application outlives the client."""


class InProcessRequest:
    """One request and its response, as a context manager.

    Args:
        server: the server.
        method: the HTTP method.
        url: the URL.
        headers: the header fields.
        body: the body.
    """

    def __init__(self, server: InProcessServer, method: str, url: str, headers: Mapping[str, str], body: bytes) -> None:
        self._server = server
        self._method = method
        self._url = url
        self._headers = headers
        self._unread: bytes | None = body
        self._left = asyncio.Event()
        self._head: asyncio.Future[tuple[int, Mapping[str, str]]] = asyncio.get_running_loop().create_future()
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_WAITING_CHUNKS)
        self._whole = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> HttpReply:
        """Send the request, and return the head of the response.

        Raises:
            TransportError: the application cannot start, or does not respond.
        """
        await self._server.start()
        self._task = self._server.run(self)
        try:
            status, headers = await self._head
        except asyncio.CancelledError:
            self._leave()
            raise
        return HttpReply(status, headers, self._read())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the response, as if the client had disconnected."""
        self._leave()

    def _leave(self) -> None:
        self._left.set()
        while not self._chunks.empty():
            self._chunks.get_nowait()  # the application may wait for room
        if self._task is not None and not self._task.done():
            asyncio.get_running_loop().call_later(STOP_SECONDS, self._task.cancel)

    async def _read(self) -> AsyncIterator[bytes]:
        while (chunk := await self._chunks.get()) is not None:
            if chunk:
                yield chunk
        if not self._whole:
            raise TransportError("the response broke off")

    # --- the side of the application

    async def run(self, application: AsgiCallable, state: dict[str, Any], logger: logging.Logger) -> None:
        """Run the application for this request."""
        try:
            await application(self._scope(state), self._receive, self._send)
        except Exception as error:
            logger.exception("the mounted server failed at %s %s", self._method, self._url)
            self._fail(type(error).__name__)
        finally:
            self._fail("it sent no response")
            if not self._left.is_set():
                await self._chunks.put(None)

    def _scope(self, state: dict[str, Any]) -> dict[str, Any]:
        parts = urlsplit(self._url)
        own = {"Host": parts.netloc, "Content-Length": str(len(self._unread or b""))}
        headers = CIMultiDict({**own, **self._headers})
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self._method,
            "scheme": parts.scheme,
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode("latin-1"), value.encode()) for name, value in headers.items()],
            "client": (parts.hostname, 0),
            "server": (parts.hostname, parts.port),
            "state": state,
        }

    async def _receive(self) -> dict[str, Any]:
        body, self._unread = self._unread, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, event: Mapping[str, Any]) -> None:
        if self._left.is_set():
            return
        if event["type"] == "http.response.start":
            fields = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in event["headers"]]
            if not self._head.done():
                self._head.set_result((event["status"], dict(fields)))
        elif event["type"] == "http.response.body":
            self._whole = not event.get("more_body", False)
            await self._chunks.put(bytes(event.get("body", b"")))

    def _fail(self, reason: str) -> None:
        if not self._head.done():
            self._head.set_exception(TransportError(f"the mounted server did not respond: {reason}"))
            self._head.exception()  # its awaiter may be cancelled
