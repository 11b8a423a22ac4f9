"""Routes that a third party contributes stand behind the same edge as all others (row B-3)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.distributions import make_distribution
from tests.support.http import LEAKS, Served, http_config
from tests.support.http_mcp import call, mirrored, modern

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLUGIN = """\
from pegboard.plugin import Plugin, Route, hookimpl
from pegboard.types import EventStream, Response


class Pages(Plugin):
    @hookimpl
    def register_routes(self):
        return [
            Route("GET", "/page", page),
            Route("POST", "/page", page),
            Route("GET", "/open", page, auth="public"),
            Route("GET", "/asked", asked),
            Route("GET", "/events", events),
            Route("GET", "/broken", broken),
            Route("GET", "/nonsense", nonsense),
        ]


async def page(request, host):
    return Response(201, request.method.encode() + request.body, "text/plain", {"X-Page": "yes"})


async def asked(request, host):
    return Response(200, repr(dict(request.query)).encode(), "text/plain")


async def events(request, host):
    async def say():
        for number in range(3):
            yield b"%d" % number

    return EventStream(say(), {"X-Page": "yes"})


async def broken(request, host):
    raise KeyError("canary-7f3a91")


async def nonsense(request, host):
    return "a page"
"""

EVIL = [("Host", "evil.example"), ("Origin", "http://evil.example"), ("Origin", "null")]
PATHS = ["/page", "/open", "/events", "/broken"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server with a third party's routes."""
    site = tmp_path_factory.mktemp("pages")
    make_distribution(
        site, "acme-pages", "1", {"pegboard.plugins": {"pages": "acme_pages:Pages"}}, {"acme_pages.py": PLUGIN}
    )
    config = http_config(
        'port = 0\nmax_body_bytes = 2000\ncors_origins = ["https://app.example"]', more="[plugins.pages]"
    )
    async with Served(site, config) as served:
        yield served


async def test_they_are_served(pages: Served) -> None:
    answer = await pages.request("POST", "/page", body=b"!")
    assert (answer.status, answer.body, answer.get("X-Page")) == (201, b"POST!", "yes")
    head = await pages.request("HEAD", "/page")
    assert (head.status, head.body) == (201, b"")
    assert (await pages.request("DELETE", "/page")).status == 405
    async with await pages.connect() as line:
        opened = await line.request("HEAD", "/events")
        assert (opened.status, opened.get("Content-Type"), opened.get("X-Page")) == (200, "text/event-stream", "yes")
        assert (await line.request("GET", "/open")).status == 201
    stream = await pages.request("GET", "/events")
    assert (stream.get("Content-Type"), stream.get("X-Page")) == ("text/event-stream", "yes")
    assert stream.body == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"


@pytest.mark.requirement("HTTP-02", "SEC-01")
@pytest.mark.parametrize("field", EVIL, ids=": ".join)
@pytest.mark.parametrize("path", PATHS)
async def test_a_foreign_host_or_origin_reaches_none_of_them(pages: Served, path: str, field: tuple[str, str]) -> None:
    answer = await pages.request("GET", path, [field])
    assert answer.status == (421 if field[0] == "Host" else 403)
    assert answer.get("X-Page") is None


@pytest.mark.requirement("HTTP-02")
@pytest.mark.parametrize("field", EVIL, ids=": ".join)
async def test_nor_a_call_that_would_be_answered_with_a_stream(served: Served, field: tuple[str, str]) -> None:
    one = modern(call("fixture_count", token="p"))
    answer = await served.request("POST", "/mcp", [*mirrored(one), field], json.dumps(one).encode())
    assert answer.status == (421 if field[0] == "Host" else 403)


@pytest.mark.parametrize(("query", "told"), [("", b"{}"), ("?", b"{}"), ("?a=1&b=%20x", b"{'a': '1', 'b': ' x'}")])
async def test_they_are_given_the_query(pages: Served, query: str, told: bytes) -> None:
    assert (await pages.request("GET", f"/asked{query}")).body == told


async def test_limits_and_cors_hold_for_them(pages: Served) -> None:
    assert (await pages.request("POST", "/page", body=b"x" * 2001)).status == 413
    answer = await pages.request("GET", "/page", [("Origin", "https://app.example")])
    assert answer.get("Access-Control-Allow-Origin") == "https://app.example"


@pytest.mark.parametrize("path", ["/broken", "/nonsense"])
async def test_one_that_fails_harms_nobody_and_tells_nothing(pages: Served, path: str) -> None:
    answer = await pages.request("GET", path)
    assert answer.status == 500
    assert "canary" not in answer.text
    assert not [leak for leak in LEAKS if leak in answer.text + str(answer.fields)]
    assert (await pages.request("GET", "/page")).status == 201
