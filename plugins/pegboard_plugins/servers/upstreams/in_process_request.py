"""One HTTP request to an ASGI application in this process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from multidict import CIMultiDict

from pegboard.plugin import AsgiCallable, TransportError

if TYPE_CHECKING:
    from pegboard_client import HttpReply
    from pegboard_plugins.servers.upstreams.in_process_server import InProcessServer

MAX_WAITING_CHUNKS = 16
"""The maximum number of parts of a body that wait for the client. Then the application waits too."""
LEAVE_SECONDS = 5.0
"""How long a request may run after its client has left."""


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
        from pegboard_client import HttpReply

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
            asyncio.get_running_loop().call_later(LEAVE_SECONDS, self._task.cancel)

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
