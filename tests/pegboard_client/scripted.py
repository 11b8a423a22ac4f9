"""Servers that follow a script: an HTTP server whose responses are bytes, and a message stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import pytest

from pegboard.plugin import TransportError
from pegboard_client import Client, Stream
from tests.pegboard_client.pairs import MemoryEnd, StreamPair

REVISION = "2025-11-25"


class Got(NamedTuple):
    verb: str
    headers: dict[str, str]
    message: Any

    @property
    def method(self) -> str:
        """The method of the message; the verb without a message."""
        return self.message["method"] if self.message and "method" in self.message else self.verb

    def result(self, result: Any, *headers: str) -> bytes:
        return as_json({"jsonrpc": "2.0", "id": self.message["id"], "result": result}, *headers)

    def event(self, result: Any, event_id: str = "") -> bytes:
        return event({"jsonrpc": "2.0", "id": self.message["id"], "result": result}, event_id)


def whole(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Reason", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def as_json(value: Any, *headers: str, status: int = 200) -> bytes:
    return whole(status, json.dumps(value).encode(), "Content-Type: application/json", *headers)


def event(message: Any, event_id: str = "", retry: int | None = None) -> bytes:
    lines = [f"id: {event_id}"] if event_id else []
    lines += [] if retry is None else [f"retry: {retry}"]
    return "\n".join([*lines, f"data: {json.dumps(message) if message else ''}", "", ""]).encode()


async def silence() -> bytes:
    """Answer nothing."""
    await asyncio.Event().wait()
    raise AssertionError


def acknowledged(got: Got) -> bytes:
    """Answer a request for changes with the start of a stream."""
    meta = {"io.modelcontextprotocol/subscriptionId": got.message["id"]}
    params = {"notifications": got.message["params"]["notifications"], "_meta": meta}
    return STREAM + event({"method": "notifications/subscriptions/acknowledged", "params": params})


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
ACCEPTED = whole(202, b"")
NOT_FOUND = whole(404, b"no such session")
NOT_OFFERED = whole(405, b"")

Respond = Callable[[Got], "bytes | Awaitable[bytes]"]


@asynccontextmanager
async def scripted_http(respond: Respond, port: int | None = 0) -> AsyncIterator[tuple[str, list[Got]]]:
    """Serve HTTP. `respond` returns the bytes of a response; a connection ends after one that is not whole."""
    got: list[Got] = []
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {
                    name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                got.append(Got(head[0].split(" ")[0], headers, json.loads(body) if body else None))
                response = respond(got[-1])
                data = response if isinstance(response, bytes) else await response
                writer.write(data)
                await writer.drain()
                if b"Content-Length" not in data or b"Connection: close" in data:
                    break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", got
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()


async def assert_refused(
    server: Any, message: str, error: type[Exception] = TransportError, **options: Any
) -> pytest.ExceptionInfo[Exception]:
    """Check that a client does not connect, and return its error."""
    with pytest.raises(error, match=message) as caught:
        async with Client(server, **options):
            pass
    return caught


class Tokens:
    """Logins that succeed: a token once the server has asked for it."""

    def __init__(self) -> None:
        self.token = ""
        self.statuses: list[int] = []

    async def headers(self, url: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    async def challenged(self, url: str, status: int, headers: Any) -> bool:
        self.statuses.append(status)
        self.token = "good"
        return True


def guarded(got: Got) -> bytes:
    """Answer a request that has the token."""
    return got.result(DISCOVERED) if got.headers.get("authorization") == "Bearer good" else whole(401, b"")


@asynccontextmanager
async def connected(respond: Respond, **options: Any) -> AsyncIterator[tuple[Client, list[Got]]]:
    """Return a connected client of a server that follows a script, and the requests that the server got."""
    async with scripted_http(respond) as (url, got), Client(url, **options) as client:
        yield client, got


def session(respond: Respond, *, session_id: str = "s1") -> Respond:
    """Add the handshake of a session to a script."""

    def answer(got: Got) -> bytes | Awaitable[bytes]:
        if got.method == "initialize":
            return got.result(INITIALIZED, f"Mcp-Session-Id: {session_id}")
        if got.method in ("notifications/initialized", "notifications/cancelled", "DELETE"):
            return ACCEPTED
        return respond(got)

    return answer


INITIALIZED = {"protocolVersion": REVISION, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}


@asynccontextmanager
async def scripted_stream(serve: Callable[[MemoryEnd], Awaitable[None]], **options: Any) -> AsyncIterator[Client]:
    """Return a client, not yet connected, of a server that follows a script."""
    pair = StreamPair()
    task = asyncio.ensure_future(serve(pair.server))
    try:
        yield Client(Stream(pair.client), timeout=10, **options)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
