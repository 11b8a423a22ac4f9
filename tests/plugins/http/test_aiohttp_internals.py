"""The private attributes of aiohttp: the installed version has them, and the server serves without them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import StreamReader, web
from aiohttp.http import HttpRequestParser
from aiohttp.web_protocol import RequestHandler

from pegboard_plugins.http import aiohttp_internals
from pegboard_plugins.http.http_server import HttpServer
from pegboard_plugins.http.sending import SendLimit
from tests.support.peer import WAIT

NAMES = {name: value for name, value in vars(aiohttp_internals).items() if name.isupper()}


def test_the_installed_aiohttp_has_the_attributes() -> None:
    classes = (RequestHandler, HttpRequestParser, StreamReader)
    assert all(any(hasattr(one, name) for one in classes) for name in NAMES.values())
    assert aiohttp_internals.has_internals()


def test_a_connection_leaves_requests_to_aiohttp_if_its_parser_does_not_count_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """aiohttp 3.14.0 has no `message_consumed`."""
    monkeypatch.setattr(aiohttp_internals, "CONSUMED", "_missing")
    assert not aiohttp_internals.has_internals()


def make_request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    return web.BaseRequest(message, payload, protocol, writer, task, asyncio.get_running_loop())


async def respond(request: web.BaseRequest) -> web.Response:
    return web.Response(body=await request.read())


@pytest.mark.parametrize("missing", [(), tuple(NAMES)], ids=["all", "none"])
async def test_requests_are_served_without_the_attributes(
    missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in missing:
        monkeypatch.setattr(aiohttp_internals, name, "_missing")
    served = HttpServer(
        respond,
        request_factory=make_request,
        handler_cancellation=True,
        header_seconds=60,
        proves=lambda transport: False,
        begin=lambda connection, head, body: False,
        drop=lambda connection: None,
        send_limit=SendLimit(60),
        max_field_size=1024,
        max_line_size=1023,
    )
    listener = await asyncio.get_running_loop().create_server(served, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname())
    async with asyncio.timeout(WAIT):
        for body in (b"", b"x" * 200_000):
            head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body)
            for part in (head[:20], head[20:], body):
                writer.write(part)
                await asyncio.sleep(0)
            received = await reader.readuntil(b"\r\n\r\n")
            assert received.startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(len(body)) == body
        writer.close()
        await writer.wait_closed()
        listener.close()
        await served.shutdown(1)
