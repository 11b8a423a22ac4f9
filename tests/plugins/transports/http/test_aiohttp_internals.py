"""The private attributes of aiohttp: the server has the same limits without them."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp.http import HttpRequestParser

from pegboard.types import Request, Response
from pegboard_plugins.transports.http import aiohttp_internals, handler, http_connection, http_server
from tests.support.http import Line, request_bytes
from tests.support.http_connections import bytes_of, serving

FUNCTIONS = (
    *("is_idle", "is_reading_paused", "put_waiter", "remove_request"),
    *("take_body", "take_waiter", "waiting_requests"),
)
HEAD = bytes_of(b"")


def test_the_installed_version_of_aiohttp_has_the_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert aiohttp_internals.has_internals()
    monkeypatch.setattr(aiohttp_internals, "USED", {HttpRequestParser: ["_missing"]})
    assert not aiohttp_internals.has_internals()


@pytest.fixture(params=["with", "without"])
def attributes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with the attributes if they are there, and without them; then no function may use one."""
    if request.param == "with":
        return
    monkeypatch.setattr(http_server, "has_internals", lambda: False)
    for module in (http_connection, handler):
        for name in FUNCTIONS:
            monkeypatch.delattr(module, name, raising=False)


def echo(request: Request) -> Response:
    return Response(200, request.body)


@pytest.mark.usefixtures("attributes")
async def test_requests_are_served_one_after_the_other() -> None:
    async with serving(echo) as (connect, _), await connect() as line:
        for body in (b"", b"x" * 200_000):
            request = bytes_of(body)
            for part in (request[:20], request[20:], request, request):
                await line.send(part)
            assert [(await line.answer()).body for _ in range(3)] == [body] * 3


@pytest.mark.usefixtures("attributes")
@pytest.mark.parametrize("before", [b"", bytes_of(b"x")], ids=["first", "second"])
@pytest.mark.parametrize(
    ("sent", "status"),
    [(HEAD[:20], 408), (HEAD[:-2] + b"".join(b"X: %b\r\n" % (b"x" * 900) for _ in range(5)), 431)],
    ids=["slow", "large"],
)
async def test_headers_have_limits_of_time_and_size(before: bytes, sent: bytes, status: int) -> None:
    async with serving(echo, header_seconds=0.01) as (connect, _), await connect() as line:
        if before:
            await line.send(before)
            await line.answer()
        await line.send(sent)
        assert await ended(line) == (status, b"")


async def ended(line: Line) -> tuple[int, Any]:
    return (await line.answer()).status, await line.rest()


@pytest.mark.usefixtures("attributes")
async def test_a_connection_closes_after_its_last_request() -> None:
    async with serving(echo) as (connect, _), await connect() as line:
        await line.send(bytes_of(b"1") + request_bytes("POST", "/", [("Connection", "close")], b"2"))
        assert (await line.answer()).body == b"1"
        assert await ended(line) == (200, b"")


@pytest.mark.usefixtures("attributes")
async def test_idle_connections_end_with_the_server_and_busy_ones_after_their_response() -> None:
    async with serving(echo) as (connect, server), await connect() as idle, await connect() as busy:
        assert (await idle.request("POST", "/", body=b"1")).body == b"1"
        await busy.send(bytes_of(b"12")[:-1])
        while len(server.connections) < 2 or all(connection.is_idle for connection in server.connections):
            await idle.request("POST", "/", body=b"1")  # a round trip, by which the head has come
        for connection in server.connections:
            connection.end()
        assert await idle.rest() == b""
        await busy.send(b"2")
        assert (await busy.answer()).body == b"12"
