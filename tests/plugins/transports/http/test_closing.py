"""Connections that close while bytes of the client are unread: the server with a host of its own, over sockets."""

import asyncio
import socket
import ssl
from asyncio.sslproto import SSLProtocol
from typing import Any

import pytest

from pegboard.types import Request, Response
from pegboard_plugins.transports.http import staged_close
from pegboard_plugins.transports.http.sending import unsent_bytes
from pegboard_plugins.transports.http.server import stop_listening
from tests.host.hosting import until
from tests.support.http import Line, request_bytes
from tests.support.http_connections import bytes_of, idle_connection, serving
from tests.support.peer import WAIT


async def test_a_request_that_crosses_the_end_of_its_connection_is_not_reset() -> None:
    """The client may repeat it, because the server has closed the connection before it has read the request."""
    async with idle_connection() as (line, connection, begun):
        line.writer.write(bytes_of(b"1"))
        connection.end()
        assert await line.reader.read() == b""
        line.writer.write(bytes_of(b"2"))
        line.writer.write_eof()
        await until(lambda: connection.is_closed)
        assert begun == []


async def test_the_last_response_arrives_though_the_client_goes_on_sending() -> None:
    def begin(request: Request) -> Response:
        line.writer.write(b"x" * 100_000)
        return Response(200, b"last")

    async with serving(begin) as (connect, _), await connect() as line:
        await line.send(request_bytes("POST", "/", [("Connection", "close")], b"1"))
        assert (await line.answer()).body == b"last"
        assert await line.reader.read() == b""


async def test_a_client_that_leaves_its_connection_open_is_waited_for_not_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staged_close, "LINGER_SECONDS", 0)
    async with idle_connection() as (line, connection, _):
        connection.end()
        await until(lambda: connection.is_closed)
        assert await line.reader.read() == b""


async def test_a_request_in_flight_is_answered_after_the_streams_have_ended() -> None:
    """It has arrived after the host has drained. The wait ends with the connection."""
    release = asyncio.Event()

    async def wait() -> Response:
        await release.wait()
        return Response(200, b"{}")

    async with serving(lambda request: wait()) as (connect, server), await connect() as line:
        await line.send(bytes_of(b"1"))
        handler = server.request_handler.__self__
        await until(lambda: handler.load == (1, 0))
        await handler.end_streams(0)
        loop = asyncio.get_running_loop()
        ending = loop.create_task(server.end(loop.time() + 2 * WAIT))
        await asyncio.sleep(0)
        release.set()
        assert (await line.answer()).status == 200
        line.writer.close()
        await ending
        assert server.connections == []


async def test_a_request_whose_body_is_incomplete_is_answered_at_the_end() -> None:
    def begin(request: Request) -> Any:
        raise AssertionError("the body never arrives")

    async with serving(begin) as (connect, server), await connect() as line:
        await line.send(bytes_of(b"12")[:-1])
        handler = server.request_handler.__self__
        await until(lambda: handler.load == (1, 0))
        await handler.end_requests(WAIT)
        answer = await line.answer()
        assert (answer.status, answer.get("Connection")) == (503, "close")


async def test_a_first_request_is_answered_while_the_server_ends() -> None:
    async with serving(lambda request: Response(200, request.body)) as (connect, server), await connect() as line:
        await line.send(bytes_of(b"1")[:20])
        await until(lambda: bool(server.connections))
        ending = asyncio.create_task(server.end())
        await asyncio.sleep(0)
        await line.send(bytes_of(b"1")[20:])
        assert (await line.answer()).body == b"1"
        line.writer.close()
        await ending


@pytest.mark.parametrize("accepts_rest", [False, True])
async def test_a_connection_that_was_just_accepted_is_served_though_the_port_closes(accepts_rest: bool) -> None:
    """asyncio accepts a connection and makes its transport in two turns of the loop."""
    loop = asyncio.get_running_loop()
    async with serving(lambda request: Response(200, request.body)) as (_, server):
        listener = await loop.create_server(server, "127.0.0.1", 0)
        client = socket.create_connection(listener.sockets[0].getsockname())
        await asyncio.sleep(0)  # the connection is accepted after this turn
        await loop.create_task(stop_listening(listener, server, accepts_rest=accepts_rest))
        async with Line(*await asyncio.open_connection(sock=client)) as line:
            assert (await line.request("POST", "/", body=b"1")).body == b"1"


async def test_a_transport_with_tls_that_was_closed_twice_has_no_unsent_bytes() -> None:
    """asyncio and the server may both close a connection before the server learns that it is lost."""
    loop = asyncio.get_running_loop()
    context, waiter = ssl.create_default_context(), loop.create_future()
    protocol: Any = SSLProtocol(loop, asyncio.Protocol(), context, waiter, server_hostname="localhost")
    transport = protocol._get_app_transport()
    for _ in range(2):
        transport.close()
        assert unsent_bytes(transport) == 0
