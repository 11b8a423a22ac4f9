"""Limits on size, time, number of requests and file descriptors, and bytes that are no HTTP."""

from __future__ import annotations

import asyncio
import json
import resource
from pathlib import Path

import pytest

from tests.support.http import LEAKS, Line, Served, http_config, request_bytes
from tests.support.http_connections import needs_attributes
from tests.support.http_mcp import JSON_FIELDS, ask, call, mirrored, modern, post, send, stream
from tests.support.peer import WAIT

CHUNKED = ("Transfer-Encoding", "chunked")
LIMIT = 65536
ECHO = call("fixture_echo", {"text": "x"})


async def assert_alive(served: Served) -> None:
    assert (await ask(served, ECHO)).result["isError"] is False


@pytest.mark.requirement("SEC-03")
async def test_a_body_beyond_the_limit_is_refused_before_it_is_sent_or_when_it_grows(strict: Served) -> None:
    for method, path in (("POST", "/mcp"), ("GET", "/mcp"), ("PUT", "/healthz"), ("DELETE", "/nothing")):
        async with await strict.connect() as line:
            await line.ask(method, path, [*JSON_FIELDS, ("Content-Length", str(LIMIT + 1))])
            answer = await line.answer()
            assert (answer.status, answer.get("Connection")) == (413, "close"), (method, path)
            assert b"[plugins.http] max_body_bytes" in answer.body
    async with await strict.connect() as line:
        await line.ask("POST", "/mcp", [*JSON_FIELDS, CHUNKED])
        for _ in range(5):
            await line.send(b"4000\r\n" + b" " * 0x4000 + b"\r\n")
        assert (await line.answer()).status == 413
    for encoding in ("gzip", "identity, gzip"):
        answer = await strict.request("POST", "/mcp", [*JSON_FIELDS, ("Content-Encoding", encoding)], b"\x1f\x8b")
        assert answer.status == 415
    await assert_alive(strict)


async def test_a_transfer_coding_other_than_chunked_is_refused(strict: Served) -> None:
    """RFC 9112 section 6.1, if the body arrives with the head and if it arrives later."""
    body = json.dumps(modern(ECHO)).encode()
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    fields = [*mirrored(modern(ECHO)), ("Transfer-Encoding", "gzip, chunked")]
    for first, later in ((chunks, b""), (b"", chunks)):
        async with await strict.connect() as line:
            await line.send(request_bytes("POST", "/mcp", fields, first))
            answer = await line.answer()
            assert (answer.status, answer.get("Connection")) == (501, "close")
            await line.send(later)


async def test_a_body_of_exactly_the_limit_is_served_in_chunks(strict: Served) -> None:
    request = modern(call("fixture_length", {"text": ""}))
    request["params"]["arguments"]["text"] = "x" * (LIMIT - len(json.dumps(request)))
    body = json.dumps(request).encode()
    async with await strict.connect() as line:
        await line.ask("POST", "/mcp", [*mirrored(request), CHUNKED])
        for part in (body[:1], body[1:40000], body[40000:]):
            await line.send(b"%x\r\n%b\r\n" % (len(part), part))
        await line.send(b"0\r\n\r\n")
        assert (await line.answer()).json["result"]["isError"] is False


@pytest.mark.requirement("SEC-03")
async def test_large_bodies_share_a_limit_of_memory(fixture_site: Path) -> None:
    """512 MiB. Clients that announce large bodies and send nothing do not block small ones; a flood is not kept."""
    large = [*JSON_FIELDS, ("Content-Length", str(10 * 2**20)), ("Expect", "100-continue")]
    async with Served(fixture_site) as served:
        await assert_alive(served)
        before = served.memory()
        async with await served.connect() as line:
            await line.ask("POST", "/mcp", [*JSON_FIELDS, CHUNKED])
            try:
                for _ in range(100):
                    await line.send(b"100000\r\n" + b" " * 2**20 + b"\r\n")
            except ConnectionError:
                pass
        await assert_alive(served)
        assert served.memory() - before < 30 * 2**20
        lines = [await served.connect() for _ in range(52)]
        answers = []
        for line in lines:
            await line.ask("POST", "/mcp", large)
            answers.append(await line.head())
        assert [answer.status for answer in answers] == [100] * 51 + [503]
        assert (answers[-1].get("Retry-After"), answers[-1].get("Connection")) == ("1", "close")
        await assert_alive(served)
        for line in lines:
            line.abort()
        async with asyncio.timeout(WAIT):
            while (await ask(served, call("fixture_length", {"text": "x" * 9 * 2**20}))).status != 200:
                pass


@pytest.mark.requirement("SEC-03")
async def test_headers_are_limited_each_together_and_in_number(strict: Served) -> None:
    large = "x" * 33_000
    many = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X: %b\r\n" % (b"x" * 30_000) for _ in range(4))
    for head in (
        request_bytes("GET", "/healthz", [("X", large)]),
        many + b"Y: " + b"y" * (4 * 32 * 1024 - len(many)),  # refused though it has not ended
        request_bytes("GET", "/healthz", [(f"X-{n}", "x") for n in range(500)]),
    ):
        async with await strict.connect() as line:
            await line.send(head)
            assert (await line.answer()).status in {400, 431}
            assert await line.rest() == b""
    assert (await strict.request("GET", f"/{large}")).status == 414
    assert (await strict.request("GET", "/healthz", [("X", large)])).status == 431


async def trickle(line: Line) -> None:
    """Send one byte after the other, as long as the server takes them."""
    try:
        while True:
            line.writer.write(b"h")
            await asyncio.sleep(0.02)  # as slow as a hostile client; nothing waits for this
    except ConnectionError:
        pass


async def test_bytes_that_trickle_in_do_not_set_the_clock_back(impatient: Served) -> None:
    posts = [request_bytes("POST", "/mcp", [*JSON_FIELDS, field]) for field in (("Content-Length", "60000"), CHUNKED)]
    for begun in (b"GET /healthz HTTP/1.1\r\nHost: local", posts[0] + b'{"', posts[1] + b"ffff\r\n"):
        async with await impatient.connect() as line:
            await line.send(begun)
            trickling = asyncio.create_task(trickle(line))
            answer = await line.answer()
            assert (answer.status, answer.get("Connection")) == (408, "close")
            trickling.cancel()


async def test_a_connection_without_a_request_is_closed_and_each_request_has_its_own_time(impatient: Served) -> None:
    async with await impatient.connect() as line:
        assert await line.rest() == b""
    async with await impatient.connect() as line:
        assert (await line.request("GET", "/healthz")).status == 200
        await line.send(b"GET /healthz HTTP/1.1\r\n")
        assert (await line.answer()).status == 408
        assert await line.rest() == b""
    async with await impatient.connect() as line:
        await send(line, call("fixture_wait", {"label": "ahead"}, token="p"))
        assert (await line.head()).status == 200
        await line.send(b"GET /healthz HTTP/1.1\r\n")  # while the other runs
        while await line.chunk() != b": ping\n\n":  # a long call is not a slow header
            pass
        await ask(impatient, call("fixture_release"))
        while await line.chunk():
            pass
        assert (await line.answer()).status == 408


async def test_a_call_that_takes_too_long_is_cancelled(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config("port = 0\ncall_seconds = 0.2")) as served:
        assert (await post(served, call("fixture_wait", {"label": "too-long"}))).status == 504
        assert "too-long" in (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]


@pytest.mark.requirement("SEC-03")
async def test_requests_and_streams_have_limits_of_their_own(fixture_site: Path) -> None:
    """Streams, which are open for hours, do not take the places of short requests."""
    async with Served(fixture_site, http_config("port = 0\nmax_requests = 2\nmax_streams = 4")) as served:
        waiting = [await served.connect() for _ in range(2)]
        for line in waiting:
            await send(line, call("fixture_wait", {"label": "limits"}))
        assert (await served.request("GET", "/healthz")).status == 200  # a round trip, by which they have come
        refused = await post(served, ECHO)
        assert (refused.status, refused.get("Retry-After")) == (503, "1")
        for line in waiting:
            line.abort()
        async with asyncio.timeout(WAIT):
            while (await post(served, ECHO)).status == 503:
                pass
        for _ in range(4):
            await stream(served, call("fixture_wait", token="p"))
            await assert_alive(served)
        refused = await post(served, call("fixture_wait", {"label": "one-too-many"}, token="p"))
        assert (refused.status, refused.get("Retry-After")) == (503, "1")
        async with asyncio.timeout(WAIT):  # that call is cancelled
            while "one-too-many" not in (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]:
                pass


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
NO_HTTP = {
    "CL.TE": HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET ",
    "TE.CL": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET ",
    "CL.CL": HEAD + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    **{f"CL of {size}": HEAD + f"Content-Length: {size}\r\n\r\nabcd".encode() for size in ("+4", "-1", "4, 4", "0x4")},
    "TE unknown": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "TE not last": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "white space before the colon": HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a folded line": HEAD + b" folded: x\r\n\r\n",
    "NUL in a value": HEAD + b"X: a\x00b\r\n\r\n",
    "CR in a value": HEAD + b"X: a\rb\r\n\r\n",
    "no name": HEAD + b": no name\r\n\r\n",
    "bare LF between fields": b"GET /healthz HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n",
    "version": b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "JSON": b"{}\r\n\r\n",
}


async def test_bytes_that_are_no_http_are_refused_and_the_connection_closed(strict: Served) -> None:
    """Nothing after them is taken for a request."""
    for name, raw in NO_HTTP.items():
        async with await strict.connect() as line:
            await line.send(raw + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = await line.answer()
            assert (answer.status, answer.get("Server")) == (400, "pegboard"), name
            assert not [leak for leak in LEAKS if leak in answer.text + str(answer.fields)], name
            assert b"200" not in await line.rest(), name
    await assert_alive(strict)
    assert "aiohttp" not in strict.stderr  # no traceback of the HTTP library


@needs_attributes  # aiohttp keeps the error for the next request, and the body arrives too slowly
async def test_malformed_chunks_are_refused_at_any_moment(strict: Served) -> None:
    """Wherever the server is with their request; many at once let it be everywhere."""

    async def refused(chunks: bytes) -> tuple[int, bytes]:
        async with await strict.connect() as line:
            await line.ask("POST", "/mcp", [*JSON_FIELDS, CHUNKED])
            await line.send(chunks)
            return (await line.answer()).status, await line.rest()

    for chunks in (b"zz\r\nabc\r\n0\r\n\r\n", b"-1\r\na\r\n", b"3\r\nabcdef\r\n0\r\n\r\n", b"3\nabc\n0\n\n"):
        assert await refused(chunks) == (400, b"")
    assert set(await asyncio.gather(*[refused(b"zz\r\n") for _ in range(40)])) == {(400, b"")}
    gone = await strict.connect()  # a client that leaves before its body came
    await gone.ask("POST", "/mcp", [*JSON_FIELDS, ("Content-Length", "100")], b'{"json')
    gone.abort()
    async with await strict.connect() as line:  # the body breaks while another request runs
        await send(line, call("fixture_wait", {"label": "before-broken"}, token="p"))
        assert (await line.head()).status == 200
        await line.ask("POST", "/mcp", [*JSON_FIELDS, CHUNKED])
        await assert_alive(strict)  # a round trip, by which the head has come
        await line.send(b"zz\r\n")
        await ask(strict, call("fixture_release"))
        while await line.chunk():
            pass
        assert ((await line.answer()).text, await line.rest()) == ("The framing of the body is not valid HTTP.\n", b"")
    assert "aiohttp" not in strict.stderr


CONNECTIONS = 60


async def status(line: Line) -> int | None:
    """Return the status of the response; None if the server closes the connection without a response."""
    try:
        return (await line.answer()).status
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None


@pytest.mark.requirement("SEC-03")
async def test_connections_are_refused_while_no_descriptor_is_free(fixture_site: Path) -> None:
    async with Served(fixture_site) as served:
        limit = served.descriptors() + CONNECTIONS // 2
        resource.prlimit(served.pid, resource.RLIMIT_NOFILE, (limit, limit))
        lines = [await served.connect() for _ in range(CONNECTIONS)]
        for line in lines:
            await line.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        statuses = [await status(line) for line in lines]
        assert set(statuses) == {200, None}
        assert statuses.count(None) >= CONNECTIONS // 2
        for line in lines:
            line.abort()
        async with asyncio.timeout(WAIT):
            while await status(await requested_line(served)) != 200:
                pass
    assert "no file descriptor is free" in served.stderr
    assert len(served.stderr.splitlines()) < CONNECTIONS


async def requested_line(served: Served) -> Line:
    """Send a request on a new connection."""
    line = await served.connect()
    await line.ask("GET", "/healthz")
    return line
