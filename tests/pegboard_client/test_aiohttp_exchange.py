"""HTTP requests with aiohttp."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress

import aiohttp
import pytest

from pegboard_client import AiohttpExchange, UnreachableError, aiohttp_exchange
from pegboard_client.client_errors import ConnectionLostError
from tests.host.hosting import WAIT
from tests.pegboard_client.scripted import Got, scripted_http, whole

BODY = b"{}"
REQUESTS = [("POST", BODY), ("GET", None)]
both = pytest.mark.parametrize(("method", "body"), REQUESTS)


@pytest.fixture
async def exchange() -> AsyncIterator[AiohttpExchange]:
    made = AiohttpExchange()
    yield made
    await made.close()


@both
async def test_interim_responses_are_skipped(exchange: AiohttpExchange, method: str, body: bytes | None) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    async with (
        scripted_http(lambda _: interim + whole(200, b"yes")) as (url, got),
        exchange(method, f"{url}?a=%20b", {"X-Own": "1"}, body) as reply,
    ):
        assert (reply.status, [chunk async for chunk in reply.chunks]) == (200, [b"yes"])
    sent = got[0].headers
    assert (sent["x-own"], sent["accept-encoding"], sent["host"]) == ("1", "identity", url.split("/")[2])


@both
async def test_a_flood_of_interim_responses_is_refused(
    exchange: AiohttpExchange, method: str, body: bytes | None
) -> None:
    flood = b"HTTP/1.1 100 Continue\r\n\r\n" * 101
    async with scripted_http(lambda _: flood + whole(200, b"late")) as (url, _):
        with pytest.raises(ConnectionLostError, match="more than 100 interim responses"):
            async with exchange(method, url, {}, body):
                raise AssertionError


@pytest.mark.parametrize(("method", "body", "is_repeated"), [("GET", None, True), ("POST", BODY, False)])
async def test_a_request_without_body_is_repeated_on_another_connection(
    exchange: AiohttpExchange, method: str, body: bytes | None, is_repeated: bool
) -> None:
    """The server closes the first connection at its second request."""
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        with closing(writer):
            while await reader.read(2**16):
                requests += 1
                if requests == 2:
                    return
                writer.write(whole(200, b"yes"))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    answers = []
    with suppress(ConnectionLostError):
        for _ in range(2):
            async with exchange(method, url, {}, body) as reply:
                answers.append([chunk async for chunk in reply.chunks])
    assert (len(answers), requests) == ((2, 3) if is_repeated else (1, 2))
    server.close()


@pytest.mark.parametrize(("reads", "connections"), [(True, 1), (False, 3)])
async def test_a_connection_is_reused_after_the_end_of_a_body(
    exchange: AiohttpExchange, reads: bool, connections: int
) -> None:
    opened = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)
        while await reader.read(2**16):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1" + (b"2" if reads else b""))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    for _ in range(3):
        async with exchange("POST", url, {}, BODY) as reply:
            if reads:
                assert [chunk async for chunk in reply.chunks] == [b"12"]
    assert len(opened) == connections
    server.close()


@asynccontextmanager
async def unread(response: bytes, *, closes: bool) -> AsyncIterator[tuple[str, list[asyncio.StreamWriter]]]:
    """Run a server that answers when it has read the head of a request. Yield its URL and its connections."""
    opened = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response)
        if closes:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with asyncio.timeout(WAIT):
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", opened
    for writer in opened:
        writer.transport.abort()
    server.close()


@pytest.mark.parametrize("closes", [True, False])
async def test_a_response_is_read_before_the_server_has_read_the_body(exchange: AiohttpExchange, closes: bool) -> None:
    async with unread(whole(413, b"no"), closes=closes) as (url, opened):
        for _ in range(2):
            async with exchange("POST", url, {}, bytes(2**23)) as reply:
                assert (reply.status, [chunk async for chunk in reply.chunks]) == (413, [b"no"])
    assert len(opened) == 2  # the rest of the first body does not precede the second request


async def test_a_connection_that_is_reset_before_the_body_is_read_is_lost(exchange: AiohttpExchange) -> None:
    async with unread(b"", closes=True) as (url, _):
        with pytest.raises(ConnectionLostError, match="no response"):
            async with exchange("POST", url, {}, bytes(2**23)):
                raise AssertionError


@both
@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\nSet-Cookie: canary\r\nX-Ot", "no response: Server disconnected"),
        (b"HTTP/1.1 200 OK\r\nSet-Cookie: canary" + b"x" * 99_999, "no response: 400 Got more than 8190 bytes"),
        (b"canary is not HTTP\r\n\r\n", "no response: 400 Bad status line"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncanary", "broke off: Response payload is not completed$"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ncanary\r\n", "no response: 400 Invalid character"),
    ],
)
async def test_a_fault_is_described_without_bytes_of_the_response(
    exchange: AiohttpExchange, method: str, body: bytes | None, response: bytes, reason: str
) -> None:
    async def read(url: str) -> None:
        async with exchange(method, url, {}, body) as reply:
            async for _ in reply.chunks:
                pass

    async with unread(response, closes=True) as (url, _):
        with pytest.raises(ConnectionLostError, match=reason) as caught:
            await read(url)
    assert not [word for word in ("canary", "<", "b'") if word in str(caught.value)]


async def test_a_lost_request_is_described_without_its_url(
    exchange: AiohttpExchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://mcp.invalid/?key=canary"

    async def lost(*_: object, **options: object) -> None:
        raise aiohttp.ClientOSError(None, f"Can not write request body for {url}")  # the words of aiohttp

    monkeypatch.setattr(aiohttp.ClientSession, "request", lost)
    with pytest.raises(ConnectionLostError, match=r"no response: .*Can not write request body$"):
        async with exchange("PUT", url, {}, BODY):
            raise AssertionError


@both
async def test_a_change_of_the_protocol_is_a_response(
    exchange: AiohttpExchange, method: str, body: bytes | None
) -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
    async with unread(head, closes=False) as (url, _), exchange(method, url, {}, body) as reply:
        assert reply.status == 101


@both
async def test_a_header_with_a_line_break_is_refused(
    exchange: AiohttpExchange, method: str, body: bytes | None
) -> None:
    async with scripted_http(lambda _: whole(200, b"")) as (url, got):
        with pytest.raises(ConnectionLostError, match="no response"):
            async with exchange(method, url, {"X-Own": "1\r\nX-Other: 2"}, body):
                raise AssertionError
    assert got == []


async def test_credentials_in_a_url_are_sent_as_a_header(exchange: AiohttpExchange) -> None:
    def respond(got: Got) -> bytes:
        return whole(200 if got.headers.get("authorization") == "Basic bWU6c2VjcmV0" else 401, b"")

    async with (
        scripted_http(respond) as (url, _),
        exchange("POST", url.replace("://", "://me:secret@"), {}, BODY) as reply,
    ):
        assert reply.status == 200


@both
async def test_a_server_that_accepts_no_connection_is_unreachable(
    exchange: AiohttpExchange, method: str, body: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aiohttp_exchange, "MAX_CONNECT_SECONDS", 0.05)
    limited = AiohttpExchange()
    with closing(socket.socket()) as full, closing(socket.socket()) as first, closing(socket.socket()) as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for client in (first, second):  # they fill the queue of connections
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        with pytest.raises(UnreachableError, match=r"^cannot connect: no answer within 0.05 seconds$"):
            async with limited(method, f"http://127.0.0.1:{full.getsockname()[1]}/?key=secret", {}, body):
                raise AssertionError
    await limited.close()


async def test_a_server_that_vanishes_is_noticed_by_keepalive(exchange: AiohttpExchange) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
    async with unread(head, closes=False) as (url, _), (reply := exchange("GET", url, {}, None)):
        endpoint = reply._response._connection.transport.get_extra_info("socket")  # type: ignore[union-attr]
        assert endpoint.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
