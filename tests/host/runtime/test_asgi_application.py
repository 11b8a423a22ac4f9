"""The life of a host that is an ASGI application: alone, mounted, and not started."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard import Host
from pegboard.errors import TransportError
from pegboard.plugin import Plugin, hookimpl
from tests.support.asgi import Exchange, lifespan, send

QUIET = {"autoload": False}


class LivesPlugin(Plugin):
    """A lifespan that notes its beginning and end."""

    noted: list[str]

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        LivesPlugin.noted.append("entered")
        yield
        LivesPlugin.noted.append("left")


def make_host(**sections: Any) -> Host:
    LivesPlugin.noted = []
    return Host({"host": QUIET, "plugins": {"lives": {}, **sections}}, plugins={"lives": LivesPlugin})


async def healthy(app: Any) -> int:
    return (await send(app, "GET", "/healthz").answer()).status


async def test_its_lifespan_starts_and_stops_the_host_again_and_again() -> None:
    app = make_host().asgi()
    for times in (1, 2):
        async with lifespan(app) as started:
            assert started == {"type": "lifespan.startup.complete"}
            assert await healthy(app) == 200
        assert LivesPlugin.noted == ["entered", "left"] * times


async def test_a_cancelled_lifespan_stops_the_host() -> None:
    exchange = Exchange(make_host().asgi(), {"type": "lifespan"}, {"type": "lifespan.startup"})
    await exchange.event()
    exchange.running.cancel()
    await asyncio.wait((exchange.running,))
    assert LivesPlugin.noted == ["entered", "left"]


async def test_a_host_that_is_started_already_is_neither_started_nor_stopped() -> None:
    async with make_host() as host:
        app = host.asgi()
        assert await healthy(app) == 200
        async with lifespan(app) as started:
            assert started["type"] == "lifespan.startup.complete"
        assert (await healthy(app), LivesPlugin.noted) == (200, ["entered"])
        assert host.asgi() is app


async def test_a_host_that_is_not_started_refuses_requests_and_logs_the_fix(caplog: pytest.LogCaptureFixture) -> None:
    answer = await send(make_host().asgi(), "GET", "/healthz").answer()
    assert (answer.status, answer.text) == (503, "The host is not started.\n")
    assert "`async with host:`" in caplog.text


@pytest.mark.parametrize(
    ("http", "message"),
    [
        ({"allowed_hosts": ["tools.example.com"]}, "other machines can reach the ASGI application, and no authent"),
        ({"trusted_proxies": ["10.0.0.0/8"]}, "set [plugins.mcp] anonymous = true"),
        ({"port": "eighty"}, "port"),
    ],
)
async def test_a_start_that_fails_is_told_to_the_server(http: dict[str, Any], message: str) -> None:
    app = make_host(http=http).asgi()
    async with lifespan(app) as started:
        assert started["type"] == "lifespan.startup.failed"
        assert message in started["message"]
    assert await healthy(app) == 503


async def test_a_mounted_host_that_may_not_be_served_does_not_start() -> None:
    host = Host({"host": {**QUIET, "transports": ["stdio"]}})
    host.asgi()
    with pytest.raises(TransportError, match=r"no enabled transport serves it; see \[host\] transports"):
        await host.start()
    assert not host.started


async def test_a_started_host_that_may_not_be_served_refuses_requests(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(http={"allowed_hosts": ["tools.example.com"]}) as host:
        answer = await send(host.asgi(), "GET", "/healthz").answer()
    assert (answer.status, answer.text) == (503, "The host cannot be served; its log has the reason.\n")
    assert "other machines can reach the ASGI application" in caplog.text


async def test_a_web_socket_is_refused() -> None:
    async with make_host() as host:
        exchange = Exchange(host.asgi(), {"type": "websocket"}, {"type": "websocket.connect"})
        assert (await exchange.event())["type"] == "websocket.close"
        with pytest.raises(ValueError, match="telnet"):
            await Exchange(host.asgi(), {"type": "telnet"}).ended()
