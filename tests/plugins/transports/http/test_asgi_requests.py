"""Requests to a host that is an ASGI application: the same checks and limits as those of the HTTP server."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard import Host
from pegboard.plugin import AsgiCallable, Plugin, ProtocolContext, Route, hookimpl
from pegboard.types import EventStream, Request, Response, ServerSentEvent
from tests.support.asgi import send
from tests.support.peer import WAIT

LIMIT = 2048
CHUNKED = [("Transfer-Encoding", "chunked")]
PAGE = [("Origin", "https://app.example")]
PREFLIGHT = [*PAGE, ("Access-Control-Request-Method", "POST")]
ABROAD = {"client": ("10.0.0.1", 5000)}


class RoutesPlugin(Plugin):
    """Routes that show their request, wait, or stream."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.events: asyncio.Queue[ServerSentEvent | bytes | None] = asyncio.Queue()
        self.ended: asyncio.Queue[str] = asyncio.Queue()
        RoutesPlugin.latest = self

    latest: RoutesPlugin

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        paths: dict[str, Any] = {"/show": self.show, "/wait": self.wait, "/stream": self.stream}
        return [Route(method="*", path=path, handler=handler, anonymous=True) for path, handler in paths.items()]

    async def show(self, request: Request, host: ProtocolContext) -> Response:
        shown = [request.path, dict(request.query), request.peer, request.caller.trusted, len(request.body)]
        return Response(body=json.dumps(shown).encode(), headers={"Connection": "close"})

    async def wait(self, request: Request, host: ProtocolContext) -> Response:
        self.ended.put_nowait("begun")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.ended.put_nowait("cancelled")
        raise AssertionError

    async def stream(self, request: Request, host: ProtocolContext) -> EventStream:
        return EventStream(self._messages(), cut=lambda: b"cut")

    async def _messages(self) -> AsyncIterator[ServerSentEvent | bytes]:
        try:
            while (event := await self.events.get()) is not None:
                yield event
        finally:
            self.ended.put_nowait("closed")

    async def end(self) -> str:
        """Return how the next request ended."""
        async with asyncio.timeout(WAIT):
            return await self.ended.get()


@asynccontextmanager
async def serving(**http: Any) -> AsyncIterator[AsgiCallable]:
    config: dict[str, Any] = {
        "host": {"autoload": False},
        "plugins": {"http": {"max_body_bytes": LIMIT, **http}, "routes": {}},
    }
    if "allowed_hosts" in http:
        config["plugins"]["mcp"] = {"anonymous": True}
    async with Host(config, plugins={"routes": RoutesPlugin}) as host:
        yield host.asgi()


CORS = {"cors_origins": ["https://app.example"]}
ANSWERS: dict[str, tuple[dict[str, Any], str, list[tuple[str, str]], bytes, dict[str, Any], int, str]] = {
    "health": ({}, "/healthz", [], b"", {"method": "GET"}, 200, "ok"),
    "no route": ({}, "/nothing", [], b"", {}, 404, "nothing here"),
    "foreign Host": ({}, "/show", [("host", "evil.example")], b"", {}, 421, "[plugins.http] allowed_hosts"),
    "two Hosts": ({}, "/show", [("host", "localhost"), ("host", "localhost")], b"", {}, 400, "one Host"),
    "foreign Origin": ({}, "/show", PAGE, b"", {}, 403, "cors_origins"),
    "allowed Origin": (CORS, "/show", PAGE, b"", {}, 200, ""),
    "preflight": (CORS, "/show", PREFLIGHT, b"", {"method": "OPTIONS"}, 204, ""),
    "another machine": ({}, "/show", [], b"", ABROAD, 403, "[plugins.http] allowed_hosts"),
    "an unknown client": ({}, "/show", [], b"", {"client": None}, 403, "Only clients of this machine"),
    "an IPv6 client": ({}, "/show", [], b"", {"client": ("::ffff:127.0.0.1", 1)}, 200, ""),
    "a declared size": ({}, "/show", [("Content-Length", str(LIMIT + 1))], b"", {}, 413, "max_body_bytes"),
    "a size that grows": ({}, "/show", CHUNKED, b"x" * (LIMIT + 1), {}, 413, "max_body_bytes"),
    "the largest size": ({}, "/show", CHUNKED, b"x" * LIMIT, {}, 200, f"{LIMIT}]"),
    "an encoded body": ({}, "/show", [*CHUNKED, ("Content-Encoding", "gzip")], b"x", {}, 415, "encoding"),
    "a public name": ({"allowed_hosts": ["t.example"]}, "/show", [("host", "t.example")], b"", ABROAD, 200, "10.0.0.1"),
    "the query": ({}, "/show", [], b"", {"query_string": b"a=1%202&a=3&b="}, 200, '{"a": "1 2", "b": ""}'),
    "mounted": ({}, "/tools/show", [], b"", {"root_path": "/tools"}, 200, '["/show"'),
    "mounted, path below": ({}, "/show", [], b"", {"root_path": "/tools"}, 200, '["/show"'),
    "mounted, similar path": ({}, "/toolshow", [], b"", {"root_path": "/tools"}, 404, ""),
    "nobody is the operator": ({"loopback_is_operator": True}, "/show", [], b"", {}, 200, "false"),
    "a long request": ({"call_seconds": 0.01}, "/wait", [], b"", {}, 504, "too long"),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_each_request_has_one_answer(case: str) -> None:
    http, path, fields, body, scope, status, text = ANSWERS[case]
    async with serving(**http) as app:
        answer = await send(app, path=path, fields=fields, body=body, **{"method": "POST", **scope}).answer()
    assert (answer.status, text in answer.text) == (status, True), answer
    assert answer.get("content-length") == (None if status == 204 else str(len(answer.body)))
    assert answer.get("access-control-allow-origin") == ("https://app.example" if http == CORS else None)


async def test_a_slow_body_is_refused_and_a_client_that_leaves_before_its_end_gets_nothing() -> None:
    async with serving(body_seconds=0.01) as app:
        answer = await send(app, "POST", "/show", CHUNKED, None).answer()
        assert (answer.status, answer.get("connection")) == (408, "close")
    async with serving() as app:
        gone = send(app, "POST", "/show", CHUNKED, None)
        gone.tell("http.request", body=b"x", more_body=True)
        gone.tell("http.disconnect")
        await gone.ended()


async def test_a_head_request_has_the_fields_alone_and_http2_no_connection_field() -> None:
    async with serving() as app:
        for version, connection in (("1.1", "close"), ("2", None)):
            answer = await send(app, "HEAD", "/show", http_version=version).answer()
            assert (answer.body, answer.get("connection")) == (b"", connection)
            assert int(answer.get("content-length") or 0) > 0


async def test_a_disconnect_cancels_the_request_or_closes_the_stream() -> None:
    async with serving() as app:
        routes = RoutesPlugin.latest
        waiting, streaming = send(app, "POST", "/wait"), send(app, "GET", "/stream")
        assert await routes.end() == "begun"
        waiting.tell("http.disconnect")
        assert await routes.end() == "cancelled"
        assert (await streaming.head()).get("content-type") == "text/event-stream"
        streaming.tell("http.disconnect")
        assert await routes.end() == "closed"
        await asyncio.gather(waiting.ended(), streaming.ended())


async def test_a_stream_has_events_and_comments_and_ends() -> None:
    async with serving(stream_ping_seconds=0.01) as app:
        streaming = send(app, "GET", "/stream")
        await streaming.head()
        assert await streaming.chunk() == b": ping\n\n"
        for event in (b"{}", ServerSentEvent(data=b"x", id="7", retry_ms=5), None):
            RoutesPlugin.latest.events.put_nowait(event)
        read = b""
        while chunk := await streaming.chunk():
            read += chunk
        assert read.replace(b": ping\n\n", b"") == b"data: {}\n\nid: 7\nretry: 5\ndata: x\n\n"
        await streaming.ended()


async def test_requests_and_streams_have_limits_of_their_own() -> None:
    async with serving(max_requests=1, max_streams=1) as app:
        streaming = send(app, "GET", "/stream")
        await streaming.head()
        refused = await send(app, "GET", "/stream").answer()
        assert (refused.status, refused.get("retry-after")) == (503, "1")
        waiting = send(app, "POST", "/wait")
        routes = RoutesPlugin.latest
        assert [await routes.end(), (await send(app, "POST", "/show").answer()).status] == ["begun", 503]
        assert (await send(app, "GET", "/healthz").answer()).status == 200
        for client in (waiting, streaming):
            client.tell("http.disconnect")
            await client.ended()
        assert (await send(app, "POST", "/show").answer()).status == 200


async def test_a_client_that_does_not_read_loses_its_stream() -> None:
    async def never(event: object) -> None:
        await asyncio.get_running_loop().create_future()

    async with serving(send_seconds=0.01) as app:
        scope = {"type": "http", "method": "GET", "path": "/stream", "headers": [(b"host", b"localhost")]}
        events = iter([{"type": "http.request", "body": b""}])

        async def receive() -> dict[str, Any]:
            return next(events, None) or await asyncio.get_running_loop().create_future()

        async with asyncio.timeout(WAIT):
            await app({**scope, "client": ("127.0.0.1", 1)}, receive, never)  # it returns: the server then closes


async def test_unfinished_requests_end_when_the_host_stops() -> None:
    async with serving() as app:
        waiting, streaming = send(app, "POST", "/wait"), send(app, "GET", "/stream")
        await streaming.head()
        assert await RoutesPlugin.latest.end() == "begun"
    assert (await waiting.answer()).status == 503
    assert await streaming.chunk() == b"data: cut\n\n"
    assert await streaming.chunk() == b""
    late = await send(app, "GET", "/healthz").answer()
    assert (late.status, late.text) == (503, "The host is stopping.\n")


async def test_refusals_and_all_requests_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pegboard.plugins.http")
    caplog.set_level(logging.INFO, "pegboard.access")
    async with serving() as app:
        await send(app, "GET", "/nothing", query_string=b"token=canary").answer()
        await send(app, "GET", "/healthz").answer()
    assert "refused GET /nothing: 404 There is nothing here." in caplog.text
    assert [message.split(" in ")[0] for message in caplog.messages if "bytes" in message] == [
        "GET /nothing 404 23 bytes",
        "GET /healthz 200 3 bytes",
    ]
    assert "canary" not in caplog.text
