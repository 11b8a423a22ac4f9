"""Responses as JSON or as a stream: their bytes, and what the end of a connection means in 2026-07-28."""

from __future__ import annotations

import asyncio
import json
import ssl
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Line, Served, http_config, request_bytes, with_tls
from tests.support.http_mcp import Session, ask, call, mirrored, modern, stream

UNLIMITED = "max_result_bytes = 0"


def as_bytes(request: dict[str, Any], *more: tuple[str, str]) -> bytes:
    return request_bytes("POST", "/mcp", [*mirrored(request), *more], json.dumps(request).encode())


async def cancelled(served: Served, label: str) -> None:
    """Wait until a call has been cancelled; each look is a round trip."""
    async with asyncio.timeout(10):
        while label not in (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]:
            pass


async def fewer_descriptors(served: Served, many: int, *, tls: ssl.SSLContext | None = None) -> None:
    """Wait until the server has closed a connection."""
    probe = await served.connect(tls=tls)
    await probe.request("GET", "/healthz")  # earlier connections are accepted
    async with asyncio.timeout(30):
        while served.descriptors() > many + 1:
            await probe.request("GET", "/healthz")


@pytest.mark.requirement("ERA-16", "ERR-08", "HTTP-14", "HTTP-15", "HTTP-24")
async def test_the_bytes_of_responses(served: Served, session: Session) -> None:
    echo, count = call("fixture_echo", {"text": "x"}), call("fixture_count", token="p")
    for request in (echo, call("fixture_echo", {"text": "x" * 100_000})):  # in one piece, and by the HTTP library
        answer = (await ask(served, request)).answer
        assert int(answer.get("Content-Length") or 0) == len(answer.body)
        assert parsedate_to_datetime(answer.get("Date") or "").tzinfo is not None
        rest = {name: value for name, value in answer.fields if name not in ("Content-Length", "Date")}
        assert rest == {"Content-Type": "application/json", "Server": "pegboard"}
    for done in (await ask(served, count), await session.post(count)):
        assert done.streamed
        assert done.answer.get("Cache-Control") == "no-cache, no-transform"
        assert done.answer.get("X-Accel-Buffering") == "no"
        assert done.answer.get("Server") == "pegboard"
    assert b"\nid:" not in (await ask(served, count)).answer.body
    for sent in (as_bytes(modern(echo), ("Connection", "close")), as_bytes(modern(echo)).replace(b"/1.1", b"/1.0", 1)):
        async with await served.connect() as line:
            await line.send(sent)
            assert (await line.answer()).json["result"]["isError"] is False
            assert await line.rest() == b""
    wanted = [modern(count), *(modern(call("fixture_echo", {"text": "x"})) for _ in range(20))]
    async with await served.connect() as line:  # all are sent before the first is answered
        await line.send(b"".join(as_bytes(request) for request in wanted))
        assert (await line.answer()).get("Content-Type") == "text/event-stream"
        assert [(await line.answer()).json["id"] for _ in wanted[1:]] == [request["id"] for request in wanted[1:]]


@pytest.mark.requirement("HTTP-14", "HTTP-25")
async def test_streams_begin_before_their_calls_end_and_are_kept_alive_whether_others_end(strict: Served) -> None:
    labels = ("one", "two", "three")
    streams = [await stream(strict, call("fixture_wait", {"label": label}, token="p")) for label in labels]
    assert [streaming.first["params"]["message"] for streaming in streams] == [*labels]
    for streaming in streams:
        assert await streaming.line.chunk() == b": ping\n\n"
    first, second, third = streams
    first.line.abort()
    await cancelled(strict, "one")
    for streaming in (second, third, second, third):
        assert await streaming.line.chunk() == b": ping\n\n"
    await ask(strict, call("fixture_release"))
    assert [received["result"]["isError"] async for received in third.rest()] == [False]


@pytest.mark.requirement("HTTP-16")
async def test_leaving_before_the_response_cancels_the_call(served: Served) -> None:
    debug = {"io.modelcontextprotocol/logLevel": "debug"}  # the response might have become a stream
    for label, meta in (("gone-json", {}), ("gone-half-closed", {}), ("gone-unsaid", debug)):
        request = modern(call("fixture_wait", {"label": label}), **meta)
        line = await served.connect()
        await line.send(as_bytes(request))
        await ask(served, call("fixture_nothing"))
        if label.endswith("closed"):
            line.writer.close()
        else:
            line.abort()
        await cancelled(served, label)


@pytest.mark.requirement("HTTP-16", "HTTP-17")
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
async def test_leaving_cancels_a_call_while_the_server_reads_no_more(loop: str, served: Served, strict: Served) -> None:
    """Requests, a body and invalid bytes wait behind the call, more than the server reads ahead."""
    served = {"asyncio": served, "uvloop": strict}[loop]
    small, large = (as_bytes(modern(call("fixture_echo", {"text": "x" * size}))) for size in (1, 600_000))
    for label, more in (("many", [small] * 40), ("large", [large]), ("invalid", [b"\0\r\n\r\n"] * 100)):
        line = await served.connect()
        await line.send(as_bytes(modern(call("fixture_wait", {"label": f"{loop}-{label}"}))))
        for sent in more:
            await ask(served, call("fixture_nothing"))  # the server has read what was sent before
            await line.send(sent)
        line.writer.close()
    for label in ("many", "large", "invalid"):
        await cancelled(served, f"{loop}-{label}")


@pytest.mark.requirement("HTTP-17", "HTTP-18")
async def test_a_hundred_clients_that_leave_their_streams_leave_nothing_behind(fixture_site: Path) -> None:
    async with Served(fixture_site) as served:
        await ask(served, call("fixture_count", token="p"))
        before = served.descriptors()
        for number in range(100):
            (await stream(served, call("fixture_wait", {"label": f"left-{number}"}, token="p"))).abort()
        for number in range(100):
            await cancelled(served, f"left-{number}")
        await fewer_descriptors(served, before + 1)
        assert "Traceback" not in served.stderr
        assert "ERROR" not in served.stderr


def stop_reading(line: Line) -> None:
    line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's


async def test_a_client_that_does_not_read_is_disconnected_and_a_slow_one_is_not(fixture_site: Path) -> None:
    """Of a large response, as JSON or as a stream, and of many small ones."""
    large = modern(call("fixture_large", {"size": 20 * 2**20}))
    many = b"".join(as_bytes(modern(call("fixture_echo", {"text": "x" * 50_000}))) for _ in range(400))
    forms = [request_bytes("POST", "/mcp", mirrored(large, Accept=accept), json.dumps(large).encode()) for accept in
             ("application/json", "text/event-stream")]  # fmt: skip
    async with Served(fixture_site, http_config("port = 0\nsend_seconds = 0.2", host=UNLIMITED)) as served:
        for sent in (*forms, many):
            probe = await served.connect()
            await probe.request("GET", "/healthz")
            before = served.descriptors()
            line = await served.connect()
            stop_reading(line)
            line.writer.write(sent)
            await fewer_descriptors(served, before)
            assert served.descriptors() <= before + 1
    async with Served(fixture_site, http_config("port = 0\nsend_seconds = 1", host=UNLIMITED)) as served:
        for accept in ("application/json", "text/event-stream"):
            done = await ask(served, call("fixture_large", {"size": 20 * 2**20}), Accept=accept)
            assert done.streamed == (accept == "text/event-stream")
            assert len(done.result["content"][0]["text"]) == 20 * 2**20


@pytest.mark.parametrize(
    "fields", [{}, {"Accept": "text/event-stream"}, {"Connection": "close"}], ids=["fast", "stream", "closing"]
)
async def test_a_client_over_tls_that_does_not_read_is_disconnected(
    fixture_site: Path, certificate: Path, fields: dict[str, str]
) -> None:
    tls, context = with_tls(certificate)
    large = modern(call("fixture_large", {"size": 20 * 2**20}))
    body = json.dumps(large).encode()
    async with Served(fixture_site, http_config(f"port = 0\nsend_seconds = 0.2\n{tls}", host=UNLIMITED)) as served:
        whole = await served.connect(tls=context)
        assert (await whole.request("GET", "/healthz")).status == 200
        before = served.descriptors()
        line = await served.connect(tls=context)
        stop_reading(line)
        await line.ask("POST", "/mcp", mirrored(large, **fields), body)
        await fewer_descriptors(served, before, tls=context)
        assert len((await whole.request("POST", "/mcp", mirrored(large, **fields), body)).body) > 20 * 2**20
