"""The HTTP server with a function instead of a host, in the process of the test, and its connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pegboard.types import Request, Response
from pegboard_plugins.transports.http.aiohttp_internals import has_internals
from pegboard_plugins.transports.http.handler import Handler
from pegboard_plugins.transports.http.http_server import HttpServer
from pegboard_plugins.transports.http.request_guard import RequestGuard
from pegboard_plugins.transports.http.settings import HttpConfig
from tests.support.http import Line, request_bytes
from tests.support.peer import WAIT

needs_attributes = pytest.mark.skipif(not has_internals(), reason="aiohttp begins each request in a task")


def bytes_of(body: bytes) -> bytes:
    return request_bytes("POST", "/", body=body)


@asynccontextmanager
async def serving(begin: Callable[[Request], Any], **settings: Any) -> AsyncIterator[tuple[Callable[[], Any], Any]]:
    """Serve a function. Yield a function that connects, and the connections of the server."""
    config = HttpConfig(**{"header_seconds": 60, "max_header_bytes": 1024, **settings})
    host: Any = SimpleNamespace(begin=begin, stopping=False)
    handler = Handler(config, RequestGuard(config, loopback=True), host)
    server = HttpServer(handler, config, lambda transport: False)
    listener = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)

    async def connect() -> Line:
        return Line(*await asyncio.open_connection(*listener.sockets[0].getsockname()))

    async with asyncio.timeout(WAIT):
        yield connect, server
    listener.close()
    await server.shutdown(1)


@asynccontextmanager
async def idle_connection() -> AsyncIterator[tuple[Line, Any, list[bytes]]]:
    """Yield a client, its connection in the server, which waits for a request, and the bodies of begun requests."""
    begun: list[bytes] = []

    def begin(request: Request) -> Response:
        begun.append(request.body)
        return Response(200, request.body)

    async with serving(begin) as (connect, server), await connect() as line:
        await line.request("POST", "/", body=b"0")
        begun.clear()
        yield line, server.connections[0], begun
