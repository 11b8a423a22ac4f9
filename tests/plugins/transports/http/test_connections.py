"""Requests before aiohttp handles them, and connections that close: the server with a host of its own, over sockets."""

from __future__ import annotations

import asyncio
import socket
import ssl
from asyncio.sslproto import SSLProtocol
from typing import Any

import pytest

from pegboard.types import EventStream, Request, Response
from pegboard_plugins.transports.http import staged_close
from pegboard_plugins.transports.http.sending import unsent_bytes
from pegboard_plugins.transports.http.server import stop_listening
from tests.host.hosting import until
from tests.support.http import Line, request_bytes
from tests.support.http_connections import bytes_of, idle_connection, needs_attributes, serving
from tests.support.peer import WAIT


async def waited(body: bytes) -> Response:
    await asyncio.sleep(0)
    return Response(200, body)


async def test_a_request_waits_for_the_one_before_it() -> None:
    """The third request arrives when the task of the connection has taken the second, but has not handled it."""
    loop = asyncio.get_running_loop()

    def begin(request: Request) -> Any:
        if request.body == b"2":
            (connection,) = server.connections
            loop.call_soon(loop.call_soon, connection.data_received, bytes_of(b"3"))
        return Response(200, request.body) if request.body == b"3" else waited(request.body)

    async with serving(begin) as (connect, server), await connect() as line:
        await line.send(bytes_of(b"1"))
        assert (await line.answer()).body == b"1"
        await line.send(bytes_of(b"2"))
        assert [(await line.answer()).body for _ in range(2)] == [b"2", b"3"]


async def test_a_request_that_has_begun_counts_as_a_request_in_flight() -> None:
    """The second request arrives before the task of the first has started."""
    release = asyncio.Event()

    async def held() -> Response:
        await release.wait()
        return Response(200, b"1")

    def begin(request: Request) -> Any:
        if request.body == b"1":
            other = next(
                connection
                for connection in server.connections
                if connection.transport.get_extra_info("peername") == address
            )
            other.data_received(bytes_of(b"2"))
            return held()
        return Response(200, request.body)

    async with serving(begin, max_requests=1) as (connect, server), await connect() as first, await connect() as second:
        assert (await second.request("POST", "/", body=b"0")).status == 200
        address = second.writer.get_extra_info("sockname")
        await first.send(bytes_of(b"1"))
        assert (await second.answer()).status == 503
        release.set()
        assert (await first.answer()).status == 200
        assert (await first.request("POST", "/", body=b"0")).status == 200


async def test_requests_of_all_connections_are_parsed_before_the_first_is_answered() -> None:
    async with idle_connection() as (line, connection, begun):
        connection.data_received(bytes_of(b"1"))
        assert begun == []
        assert (await line.answer()).body == b"1"


async def test_a_request_that_arrives_before_the_answer_to_another_waits_for_it() -> None:
    async with idle_connection() as (line, connection, begun):
        connection.data_received(bytes_of(b"1"))
        connection.data_received(bytes_of(b"2"))
        assert [(await line.answer()).body for _ in range(2)] == [b"1", b"2"] == begun


@needs_attributes
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_connection_closes_if_its_request_raises_and_the_request_is_not_repeated(is_async: bool) -> None:
    begun: list[bytes] = []

    async def crash() -> Response:
        raise ValueError("canary-52")

    def begin(request: Request) -> Any:
        begun.append(request.body)
        if request.body == b"0":
            return Response(200, b"{}")
        if is_async:
            return crash()
        raise ValueError("canary-52")

    async with serving(begin) as (connect, _), await connect() as line:
        await line.request("POST", "/", body=b"0")
        await line.send(bytes_of(b"1"))
        assert await line.reader.read() == b""
    assert begun == [b"0", b"1"]


async def test_a_waiting_request_is_answered_when_the_server_ends() -> None:
    """Its response is not plain, so the task of the connection writes it."""
    begun = asyncio.Event()

    async def wait() -> Response:
        begun.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError("the call never ends by itself")

    def begin(request: Request) -> Any:
        return wait() if request.body == b"1" else Response(200, b"{}")

    async with serving(begin) as (connect, server), await connect() as line:
        await line.request("POST", "/", body=b"0")
        await line.send(bytes_of(b"1"))
        await begun.wait()
        handler = server.request_handler.__self__
        await handler.end_requests(0.5)
        for connection in server.connections:
            connection.force_close()
        assert (await line.answer()).status == 503


async def test_a_parsed_request_is_answered_if_the_server_closes_the_connection() -> None:
    async with idle_connection() as (line, connection, _):
        connection.data_received(bytes_of(b"1"))
        connection.close()
        assert (await line.answer()).body == b"1"
        assert await line.reader.read() == b""


async def test_a_parsed_request_is_not_begun_if_the_client_has_gone() -> None:
    async with idle_connection() as (_, connection, begun):
        connection.transport.abort()
        connection.data_received(bytes_of(b"1"))
        task = connection._task_handler
        await asyncio.wait([task])
        assert begun == []


class OpenMessages:
    """The messages of a stream that never ends by itself."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    def __aiter__(self) -> OpenMessages:
        return self

    async def __anext__(self) -> bytes:
        await asyncio.Event().wait()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed.set()


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("turns", range(4))
async def test_a_begun_stream_is_closed_if_the_client_leaves_before_its_head_is_written(
    waits: bool, turns: int
) -> None:
    loop, messages = asyncio.get_running_loop(), OpenMessages()

    def leave(turns: int) -> None:
        if turns:
            loop.call_soon(leave, turns - 1)
        else:
            server.connections[0].transport.abort()

    async def answer() -> EventStream:
        return EventStream(messages, {})

    def begin(request: Request) -> Any:
        if request.body == b"0":
            return Response(200, b"{}")
        leave(turns)
        return answer() if waits else EventStream(messages, {})

    async with serving(begin, max_requests=1) as (connect, server), await connect() as line:
        await line.request("POST", "/", body=b"0")
        await line.send(bytes_of(b"1"))
        await messages.closed.wait()
        async with await connect() as other:
            assert (await other.request("POST", "/", body=b"0")).status == 200


@pytest.mark.parametrize("protocol", ["websocket", "h2c"])
async def test_a_connection_serves_after_a_request_to_change_its_protocol(protocol: str) -> None:
    async with serving(lambda request: Response(200, b"{}")) as (connect, _), await connect() as line:
        for _ in range(2):
            fields = [("Connection", "Upgrade"), ("Upgrade", protocol)]
            assert (await line.request("POST", "/", fields, b"{}")).status == 200


@pytest.mark.parametrize("early", [1000, 20_000])
async def test_a_body_may_follow_a_request_to_change_the_protocol(early: int) -> None:
    """aiohttp keeps the bytes behind such a request until it is answered. They do not count as headers."""
    body = b"2" * 20_000
    data = request_bytes("POST", "/", [("Connection", "Upgrade"), ("Upgrade", "websocket")], b"1") + bytes_of(body)
    async with idle_connection() as (line, connection, _):
        connection.data_received(data[:early])
        connection.data_received(data[early:20_000])
        assert (await line.answer()).body == b"1"
        connection.data_received(data[20_000:])
        assert (await line.answer()).body == body


@pytest.mark.parametrize("end", ["close", "half-close", "idle", "errors"])
async def test_a_peer_that_does_not_read_the_last_bytes_is_disconnected(end: str) -> None:
    """Fewer bytes are unsent than let writers wait, except for errors."""
    begun = asyncio.Event()

    def begin(request: Request) -> Response:
        begun.set()
        return Response(404 if end == "errors" else 200, b"x" * int(request.body))

    async with serving(begin, send_seconds=0.01) as (connect, server), await connect() as line:
        await line.request("POST", "/", body=b"1")
        (connection,) = server.connections
        line.writer.transport.pause_reading()  # it is a socket's
        transport = connection.transport
        while end != "errors" and not transport.get_write_buffer_size():
            begun.clear()
            await line.send(bytes_of(b"50000"))
            await begun.wait()
        if end == "close":
            await line.send(request_bytes("POST", "/", [("Connection", "close")], b"1"))
        elif end == "half-close":
            line.writer.write_eof()
        elif end == "idle":
            connection.force_close()
        else:
            await line.send(bytes_of(b"50000") * 400)
        while server.connections:  # noqa: ASYNC110 - nothing tells of lost connections
            await asyncio.sleep(0)
        assert transport.is_closing()


async def test_a_request_that_crosses_the_end_of_its_connection_is_not_reset() -> None:
    """The client may repeat it, because the server has closed the connection before it has read the request."""
    async with idle_connection() as (line, connection, begun):
        line.writer.write(bytes_of(b"1"))
        connection.end()
        assert await line.reader.read() == b""
        line.writer.write(bytes_of(b"2"))
        line.writer.write_eof()
        await until(lambda: connection._open is None)
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
        await until(lambda: connection._open is None)
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
        await until(lambda: handler.exchange.load == (1, 0))
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
        await until(lambda: handler.exchange.load == (1, 0))
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
