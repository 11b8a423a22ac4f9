"""Too much, too slow, too many, and what is no HTTP (rows B-5, B-10, F-3)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.http import LEAKS, Line, Served, http_config, request_bytes
from tests.support.http_mcp import JSON_FIELDS, Session, ask, call, mirrored, modern, stream

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMIT = 65536


async def alive(served: Served) -> None:
    assert (await ask(served, call("fixture_echo", {"text": "x"}))).result["isError"] is False


# --- size


@pytest.mark.requirement("SEC-03")
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "PUT"])
@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/nothing"])
async def test_a_body_that_is_announced_as_too_large(strict: Served, method: str, path: str) -> None:
    """Refused before any of it is sent (B-5)."""
    async with await strict.connect() as line:
        await line.ask(method, path, [*JSON_FIELDS, ("Content-Length", str(LIMIT + 1))])
        answer = await line.answer()
        assert (answer.status, answer.get("Connection")) == (413, "close")
        assert b"[plugins.http] max_body_bytes" in answer.body


@pytest.mark.requirement("SEC-03")
async def test_a_body_that_turns_out_too_large(strict: Served) -> None:
    async with await strict.connect() as line:
        await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Transfer-Encoding", "chunked")])
        for _ in range(5):
            await line.send(b"4000\r\n" + b" " * 0x4000 + b"\r\n")
        assert (await line.answer()).status == 413
    await alive(strict)


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_just_fits(strict: Served, chunked: bool) -> None:
    one = modern(call("fixture_length", {"text": ""}))
    one["params"]["arguments"]["text"] = "x" * (LIMIT - len(json.dumps(one)))
    body = json.dumps(one).encode()
    assert len(body) == LIMIT
    async with await strict.connect() as line:
        if chunked:
            await line.ask("POST", "/mcp", [*mirrored(one), ("Transfer-Encoding", "chunked")])
            for part in (body[:1], body[1:40000], body[40000:]):
                await line.send(b"%x\r\n%b\r\n" % (len(part), part))
            await line.send(b"0\r\n\r\n")
            answer = await line.answer()
        else:
            answer = await line.request("POST", "/mcp", mirrored(one), body)
        assert answer.json["result"]["isError"] is False


async def test_large_bodies_of_all_requests_together_have_a_limit(fixture_site: Path) -> None:
    """512 MiB. Those who announce them and send nothing keep nobody from small ones."""
    large = [*JSON_FIELDS, ("Content-Length", str(10 * 2**20)), ("Expect", "100-continue")]
    async with Served(fixture_site) as served:
        lines = [await served.connect() for _ in range(52)]
        answers = []
        for line in lines:
            await line.ask("POST", "/mcp", large)
            answers.append(await line.head())
        assert [answer.status for answer in answers] == [100] * 51 + [503]
        assert (answers[-1].get("Retry-After"), answers[-1].get("Connection")) == ("1", "close")
        await alive(served)
        for line in lines:
            line.abort()
        async with asyncio.timeout(10):
            while (await ask(served, call("fixture_length", {"text": "x" * 9 * 2**20}))).status != 200:
                pass


async def test_a_flood_without_end_is_not_kept(fixture_site: Path) -> None:
    async with Served(fixture_site) as served:
        await alive(served)
        before = served.memory()
        async with await served.connect() as line:
            await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Transfer-Encoding", "chunked")])
            try:
                for _ in range(100):
                    await line.send(b"100000\r\n" + b" " * 2**20 + b"\r\n")
            except ConnectionError:
                pass
        await alive(served)
        assert served.memory() - before < 30 * 2**20


async def test_six_megabytes_in_base64_are_served_by_default(served: Served) -> None:
    done = await ask(served, call("fixture_length", {"text": "x" * 8 * 2**20}))
    assert done.result["content"][0]["text"] == str(8 * 2**20)


@pytest.mark.parametrize("era", ["session", "modern"])
async def test_a_large_string_within_the_limit(fixture_site: Path, era: str) -> None:
    """A-18: the memory that it took is given back."""
    one = call("fixture_length", {"text": "x" * 10_000_000})
    async with Served(fixture_site, http_config("port = 0\nmax_body_bytes = 20000000")) as served:
        session = Session(served)
        await session.open()
        before = served.memory()
        for _ in range(5):
            done = await (session.post(one) if era == "session" else ask(served, one))
            assert done.result["content"][0]["text"] == "10000000"
        await alive(served)
        assert served.memory() - before < 40 * 2**20  # the C library keeps some of what was freed, and five are 50


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip"])
async def test_an_encoded_body_is_refused(strict: Served, encoding: str) -> None:
    answer = await strict.request("POST", "/mcp", [*JSON_FIELDS, ("Content-Encoding", encoding)], b"\x1f\x8b")
    assert answer.status == 415


async def test_expect_continue(strict: Served) -> None:
    one = modern(call("fixture_echo", {"text": "x"}))
    body = json.dumps(one).encode()
    async with await strict.connect() as line:
        fields = [*mirrored(one), ("Expect", "100-continue"), ("Content-Length", str(len(body)))]
        await line.ask("POST", "/mcp", fields)
        assert (await line.head()).status == 100
        await line.send(body)
        assert (await line.answer()).json["result"]["isError"] is False
        await line.ask("POST", "/mcp", [*fields[:-1], ("Content-Length", str(LIMIT + 1))])
        assert (await line.answer()).status == 413


@pytest.mark.requirement("SEC-03")
async def test_a_header_that_is_too_large(strict: Served) -> None:
    large = "x" * 33_000
    for head in (request_bytes("GET", "/healthz", [("X", large)]), request_bytes("GET", f"/{large}")):
        async with await strict.connect() as line:
            await line.send(head)
            assert (await line.answer()).status in {400, 431}
            assert await line.rest() == b""


@pytest.mark.requirement("SEC-03")
async def test_headers_that_are_too_large_together(strict: Served) -> None:
    """A request whose headers have not ended after four of the largest is refused at once."""
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X: %b\r\n" % (b"x" * 30_000) for _ in range(4))
    async with await strict.connect() as line:
        await line.send(head + b"Y: " + b"y" * (4 * 32 * 1024 - len(head)))
        assert (await line.answer()).status == 431
        assert await line.rest() == b""


@pytest.mark.requirement("SEC-03")
async def test_too_many_headers(strict: Served) -> None:
    async with await strict.connect() as line:
        await line.send(request_bytes("GET", "/healthz", [(f"X-{n}", "x") for n in range(500)]))
        assert (await line.answer()).status in {400, 431}


# --- time


async def test_headers_that_do_not_come_to_an_end(impatient: Served) -> None:
    """F-3: whatever trickles in does not set the clock back."""
    async with await impatient.connect() as line:
        await line.send(b"GET /healthz HTTP/1.1\r\nHost: local")
        trickle = asyncio.create_task(_trickle(line))
        answer = await line.answer()
        assert (answer.status, answer.get("Connection")) == (408, "close")
        assert await line.rest() == b""
        trickle.cancel()


async def _trickle(line: Line) -> None:
    """A byte for each that could be sent, as long as there is somebody to take it."""
    try:
        while True:
            line.writer.write(b"h")
            await asyncio.sleep(0.02)  # as slow as a client that means it; nothing waits for this
    except ConnectionError:
        pass


async def test_a_connection_on_which_nothing_is_asked(impatient: Served) -> None:
    async with await impatient.connect() as line:
        assert await line.rest() == b""


async def test_the_headers_of_a_second_request(impatient: Served) -> None:
    async with await impatient.connect() as line:
        assert (await line.request("GET", "/healthz")).status == 200
        await line.send(b"GET /healthz HTTP/1.1\r\n")
        assert (await line.answer()).status == 408
        assert await line.rest() == b""


async def test_headers_that_begin_while_another_request_runs(impatient: Served) -> None:
    one = modern(call("fixture_wait", {"label": "ahead"}, token="p"))
    async with await impatient.connect() as line:
        await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        assert (await line.head()).status == 200
        await line.send(b"GET /healthz HTTP/1.1\r\n")
        await alive(impatient)  # a round trip, by which they have come
        await ask(impatient, call("fixture_release"))
        while await line.chunk():
            pass
        assert (await line.answer()).status == 408


async def test_a_long_call_is_not_a_slow_header(impatient: Served) -> None:
    one = modern(call("fixture_wait", {"label": "patient"}, token="p"))
    streaming = await stream(impatient, one)
    for _ in range(6):
        assert await streaming.line.chunk() == b": ping\n\n"  # every 0.1 s, and 0.3 s are allowed for headers
    await ask(impatient, call("fixture_release"))
    assert (await streaming.next())["result"]["isError"] is False


async def test_a_body_that_does_not_come(impatient: Served) -> None:
    async with await impatient.connect() as line:
        await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Content-Length", "100")], b'{"json')
        answer = await line.answer()
        assert (answer.status, answer.get("Connection")) == (408, "close")


async def test_a_body_that_does_not_come_to_an_end(impatient: Served) -> None:
    """F-3: whatever trickles in does not set the clock back."""
    async with await impatient.connect() as line:
        await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Content-Length", "60000")], b'{"')
        trickle = asyncio.create_task(_trickle(line))
        answer = await line.answer()
        assert (answer.status, answer.get("Connection")) == (408, "close")
        trickle.cancel()
    async with await impatient.connect() as line:
        await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Transfer-Encoding", "chunked")], b"ffff\r\n")
        trickle = asyncio.create_task(_trickle(line))
        assert (await line.answer()).status == 408
        trickle.cancel()


async def test_a_client_that_is_gone_before_its_body_came(strict: Served) -> None:
    for _ in range(3):
        line = await strict.connect()
        await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Content-Length", "100")], b'{"json')
        line.abort()
    await alive(strict)
    assert "aiohttp" not in strict.stderr  # no traceback of the server's own


async def test_a_call_that_takes_too_long(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config("port = 0\ncall_seconds = 0.2")) as served:
        one = modern(call("fixture_wait", {"label": "too-long"}))
        assert (await served.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())).status == 504
        assert "too-long" in (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]


# --- number


@pytest.mark.requirement("SEC-03")
async def test_more_requests_than_are_served_at_once(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config("port = 0\nmax_requests = 2")) as served:
        waiting = [await served.connect() for _ in range(2)]
        for line in waiting:
            one = modern(call("fixture_wait"))
            await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        assert (await served.request("GET", "/healthz")).status == 200  # a round trip, by which they have come
        one = modern(call("fixture_echo", {"text": "x"}))
        refused = await served.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        assert (refused.status, refused.get("Retry-After")) == (503, "1")
        assert (await served.request("GET", "/healthz")).status == 200
        waiting.pop().abort()
        async with asyncio.timeout(5):
            while (await served.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())).status == 503:
                pass


async def test_streams_keep_no_others_waiting(fixture_site: Path) -> None:
    """What is open for hours does not take the places of what is answered at once."""
    async with Served(fixture_site, http_config("port = 0\nmax_requests = 2\nmax_streams = 4")) as served:
        streaming = [await stream(served, call("fixture_wait", token="p")) for _ in range(3)]
        await alive(served)
        streaming.append(await stream(served, call("fixture_wait", token="p")))
        one = modern(call("fixture_echo", {"text": "x"}))
        assert (await served.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())).status == 200
        one = modern(call("fixture_wait", {"label": "one-too-many"}, token="p"))
        refused = await served.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        assert (refused.status, refused.get("Retry-After")) == (503, "1")
        async with asyncio.timeout(5):  # nobody hears of that call any more
            while "one-too-many" not in (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]:
                pass
        streaming.pop().abort()
        one = modern(call("fixture_count", token="p"))
        async with asyncio.timeout(5):
            while (await served.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())).status == 503:
                pass


# --- what is no HTTP

BODY = b'{"jsonrpc":"2.0"}'
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET ", id="CL.TE"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET ", id="TE.CL"),
        pytest.param(HEAD + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", id="CL.CL"),
        pytest.param(HEAD + b"Content-Length: +4\r\n\r\nabcd", id="CL with a sign"),
        pytest.param(HEAD + b"Content-Length: -1\r\n\r\n", id="CL below zero"),
        pytest.param(HEAD + b"Content-Length: 4, 4\r\n\r\nabcd", id="CL as a list"),
        pytest.param(HEAD + b"Content-Length: 0x4\r\n\r\nabcd", id="CL in another base"),
        pytest.param(HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", id="TE unknown"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", id="TE not last"),
        pytest.param(HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", id="white space before the colon"),
        pytest.param(HEAD + b" folded: x\r\n\r\n", id="a folded line"),
        pytest.param(HEAD + b"X: a\x00b\r\n\r\n", id="NUL in a value"),
        pytest.param(HEAD + b"X: a\rb\r\n\r\n", id="CR in a value"),
        pytest.param(HEAD + b"no colon\r\n\r\n", id="no colon"),
        pytest.param(HEAD + b": no name\r\n\r\n", id="no name"),
        pytest.param(b"GET /healthz HTTP/1.1\nHost: localhost\n\n", id="bare LF"),
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", id="bare LF between fields"),
        pytest.param(b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n", id="version"),
        pytest.param(b"GET /healthz\r\n\r\n", id="no version"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
        pytest.param(b"{}\r\n\r\n", id="JSON"),
    ],
)
async def test_what_is_no_http_is_refused_and_the_connection_closed(strict: Served, raw: bytes) -> None:
    """B-10: nothing behind it is taken for a request."""
    async with await strict.connect() as line:
        await line.send(raw + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = await line.answer()
        assert answer.status == 400
        assert not [leak for leak in LEAKS if leak in answer.text + str(answer.fields)]
        assert b"200" not in await line.rest()
    await alive(strict)
    assert "aiohttp" not in strict.stderr  # no traceback of the server's own


@pytest.mark.parametrize(
    "chunks",
    [
        b"zz\r\nabc\r\n0\r\n\r\n",
        b"-1\r\na\r\n",
        b"3\r\nabcdef\r\n0\r\n\r\n",
        b"3;x=\x00y\r\nabc\r\n0\r\n\r\n",
        b"3\nabc\n0\n\n",
    ],
)
async def test_chunks_that_are_none(strict: Served, chunks: bytes) -> None:
    async with await strict.connect() as line:
        await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Transfer-Encoding", "chunked")])
        await line.send(chunks)
        assert (await line.answer()).status == 400
        assert await line.rest() == b""
    assert "aiohttp" not in strict.stderr  # no traceback of the server's own


async def test_chunks_that_are_none_at_every_moment(strict: Served) -> None:
    """Wherever the server is with the request that they belong to; many at once let it be everywhere."""

    async def refused() -> tuple[int, bytes]:
        async with await strict.connect() as line:
            await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Transfer-Encoding", "chunked")])
            await line.send(b"zz\r\n")
            return (await line.answer()).status, await line.rest()

    for _ in range(5):
        assert set(await asyncio.gather(*[refused() for _ in range(40)])) == {(400, b"")}


async def test_a_request_whose_body_breaks_while_another_runs_is_not_served(strict: Served) -> None:
    one = modern(call("fixture_wait", {"label": "before-broken"}, token="p"))
    async with await strict.connect() as line:
        await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        assert (await line.head()).status == 200
        await line.ask("POST", "/mcp", [*JSON_FIELDS, ("Transfer-Encoding", "chunked")])
        await alive(strict)  # a round trip, by which the head has come
        await line.send(b"zz\r\n")
        await ask(strict, call("fixture_release"))
        while await line.chunk():
            pass
        assert ((await line.answer()).text, await line.rest()) == ("The framing of the body is not valid HTTP.\n", b"")
