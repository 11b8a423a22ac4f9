"""One request and its response over ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl

from multidict import CIMultiDict, MultiDict

from pegboard_plugins.transports.http.exchange import BodyTooLargeError

MAX_SENT_BYTES = 64 * 1024
"""The largest part of a body that is sent at once, so that the time limit covers only one part."""

Event: TypeAlias = MutableMapping[str, Any]
"""The scope of a connection, or an event of it (ASGI 3)."""
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]
Ending = Literal["disconnected", "stopping"]
"""The reason why a request ends before its response."""


class DisconnectedError(Exception):
    """The client has disconnected, or reads nothing."""


class AsgiRequest:
    """One request and its response.

    Args:
        scope: the scope of the request.
        receive: returns the next event of the client.
        send: sends an event to the client.
        send_seconds: how long the client may read nothing.

    Attributes:
        method: the HTTP method.
        is_http1: True for HTTP/1.0 and HTTP/1.1.
        path: the path below the path at which the application is mounted.
        headers: the header fields.
        client: the address of the client; None if the server does not report it. ending: a future that is done if the
            request ends before its response.
        finished: a future that is done when the request has ended.
        status: the status of the response; 0 before it.
        sent: the number of sent bytes of bodies.
    """

    def __init__(self, scope: Event, receive: Receive, send: Send, send_seconds: float) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._send_seconds = send_seconds
        self._watching: asyncio.Task[None] | None = None
        self.method: str = scope["method"]
        self.is_http1: bool = scope.get("http_version", "1.1").startswith("1")
        self.path = _path_below(scope["path"], scope.get("root_path", ""))
        self.headers = CIMultiDict(
            (name.decode("latin-1"), value.decode("utf-8", "surrogateescape")) for name, value in scope["headers"]
        )
        client = scope.get("client")
        self.client: str | None = client[0] if client else None
        loop = asyncio.get_running_loop()
        self.ending: asyncio.Future[Ending] = loop.create_future()
        self.finished: asyncio.Future[None] = loop.create_future()
        self.status = 0
        self.sent = 0

    @property
    def size(self) -> int | None:
        """The size of the body; None if the client does not declare it."""
        length = self.headers.get("Content-Length")
        if length is None:
            return 0 if self.is_http1 and "Transfer-Encoding" not in self.headers else None
        return int(length) if length.isascii() and length.isdigit() else None

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters."""
        text = self._scope.get("query_string", b"")
        return MultiDict(parse_qsl(text.decode("latin-1"), keep_blank_values=True)) if text else {}

    async def body(self, limit: int) -> bytes:
        """Return the whole body. Then wait for the disconnection of the client.

        Raises:
            BodyTooLargeError: the body has more than `limit` bytes.
            DisconnectedError: the client has disconnected.
        """
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise DisconnectedError
            parts.append(event.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise BodyTooLargeError
            more = event.get("more_body", False)
        self._watching = asyncio.create_task(self._watch())
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.end("disconnected")

    def end(self, reason: Ending) -> None:
        """End the request before its response."""
        if not self.ending.done():
            self.ending.set_result(reason)

    async def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Send the head of the response. HTTP/2 has no field `Connection`."""
        self.status = status
        fields = [
            (name.lower().encode("latin-1"), value.encode("utf-8", "surrogateescape"))
            for name, value in headers
            if self.is_http1 or name.lower() != "connection"
        ]
        await self._deliver({"type": "http.response.start", "status": status, "headers": fields})

    async def write(self, data: bytes, *, more: bool) -> None:
        """Send a part of the body. `more` is False for the last part."""
        self.sent += len(data)
        while len(data) > MAX_SENT_BYTES:
            part, data = data[:MAX_SENT_BYTES], data[MAX_SENT_BYTES:]
            await self._deliver({"type": "http.response.body", "body": part, "more_body": True})
        await self._deliver({"type": "http.response.body", "body": data, "more_body": more})

    async def _deliver(self, event: dict[str, object]) -> None:
        try:
            async with asyncio.timeout(self._send_seconds):
                await self._send(event)
        except (OSError, TimeoutError) as error:
            raise DisconnectedError from error

    def close(self) -> None:
        """End the exchange."""
        if self._watching is not None:
            self._watching.cancel()
        self.finished.set_result(None)


def _path_below(path: str, root: str) -> str:
    """Return a path without the path of the application, if the server or framework includes that path."""
    root = root.rstrip("/")
    return path[len(root) :] or "/" if root and (path + "/").startswith(root + "/") else path
