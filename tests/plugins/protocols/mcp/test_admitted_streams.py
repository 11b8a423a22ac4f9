"""Streams whose caller is no longer admitted, over sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard import Host
from pegboard.config import HostConfig
from pegboard.plugin import Authenticator
from pegboard.types import Caller, Change, Request, Response
from tests.host.hosting import listening, plugin_of
from tests.support import http_mcp
from tests.support.http import Line
from tests.support.http_mcp import Streaming, message, opened, stream
from tests.support.issuer import RESOURCE, Issuer
from tests.support.peer import WAIT

ADA = Caller("ada", scopes=frozenset({"work"}))
CHANGED = "notifications/tools/list_changed"
TOKENS = {name: f"{name}-0123456789abcdefghijklmnopqrstuvwxyz" for name in ("ada", "ben")}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_plugins.protocols.mcp.admitted_streams.CHECK_SECONDS", 0.01)


class Door(Authenticator):
    """An authenticator whose answer changes. It admits only the operator's channel if `only_local` is set."""

    def __init__(self, policy: str = "mcp", only_local: str | None = None) -> None:
        self.policy = policy
        self.only_local = only_local
        self.answer: Caller | Response | Exception = ADA
        self.asked = asyncio.Semaphore(0)

    async def authenticate(self, request: Request) -> Caller | Response:
        self.asked.release()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def asked_again(self) -> None:
        """Wait until each of two streams was checked since now."""
        while not self.asked.locked():
            await self.asked.acquire()
        async with asyncio.timeout(WAIT):
            for _ in range(4):
                await self.asked.acquire()


class Here:
    """A host in this process that serves over HTTP: `async with Here(config) as here`."""

    def __init__(self, config: Mapping[str, Any], door: Door | None = None) -> None:
        doors = plugin_of(register_authenticators=[door] if door else [])
        self.host = Host(config_of(**config), plugins={"doors": doors})
        self.lines: list[Line] = []

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Here]:
        async with listening(self.host) as self.port:
            try:
                yield self
            finally:
                for line in self.lines:
                    line.abort()

    async def connect(self) -> Line:
        self.lines.append(Line(*await asyncio.open_connection("127.0.0.1", self.port)))
        return self.lines[-1]

    async def streams(self, **fields: str) -> tuple[Streaming, Streaming]:
        """Open the stream of a session, and a subscription."""
        here: Any = self
        session = await opened(here, "2025-06-18", **fields)
        request = message("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        return await session.listen(None, *fields.items()), await stream(here, request, **fields)


def config_of(**plugins: Any) -> HostConfig:
    http = {"port": 0, **plugins.pop("http", {})}
    host = {"autoload": False, "disabled_toolkits": ["*"], "secret_stores": []}
    return Host({"host": host, "plugins": {"http": http, **plugins}}).config


async def assert_ended(streams: tuple[Streaming, Streaming]) -> None:
    listening, subscription = streams
    assert [received async for received in listening.rest()] == []
    assert [received["result"]["resultType"] async for received in subscription.rest()] == ["complete"]


async def assert_open(host: Host, streams: tuple[Streaming, Streaming]) -> None:
    host.emit(Change("tools"))
    assert [(await stream.next())["method"] for stream in streams] == [CHANGED] * 2


@pytest.mark.parametrize("path", ["/mcp", "/mcp/own"])
@pytest.mark.parametrize(
    "answer",
    [Response(401), Response(403), Caller("ben", scopes=ADA.scopes), Caller("ada"), RuntimeError("broken")],
    ids=["401", "403", "another caller", "fewer scopes", "broken"],
)
async def test_streams_of_a_refused_caller_end(path: str, answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_mcp, "PATH", path)
    door = Door("mcp" if path == "/mcp" else "partners")
    profiles = {"profiles": {"own": {"tools": ["*"], "auth": "partners"}}}
    async with Here({"mcp": profiles}, door).serving() as here:
        streams = await here.streams()
        await door.asked_again()
        await assert_open(here.host, streams)
        door.answer = answer
        await assert_ended(streams)


@pytest.mark.parametrize(
    ("only_local", "answer"),
    [
        (None, Response(503)),
        (None, ADA._replace(scopes=ADA.scopes | {"more"}, expires_at=2e9)),
        ("its token is weak", ADA),
    ],
    ids=["cannot know", "a renewed token", "on the channel of the operator"],
)
async def test_streams_of_other_callers_stay_open(only_local: str | None, answer: Any) -> None:
    door = Door(only_local=only_local)
    async with Here({"http": {"loopback_is_operator": only_local is not None}}, door).serving() as here:
        streams = await here.streams()
        door.answer = answer
        await door.asked_again()
        await assert_open(here.host, streams)


async def test_a_check_that_hangs_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_plugins.protocols.mcp.admitted_streams.MAX_SECONDS", 0.01)

    class Hanging(Door):
        async def authenticate(self, request: Request) -> Caller | Response:
            if request.method == "GET" and self.answer is not ADA:
                await asyncio.get_running_loop().create_future()
            return await super().authenticate(request)

    door = Hanging()
    async with Here({}, door).serving() as here:
        listening, subscription = await here.streams()
        door.answer = Response(401)
        assert [received["result"]["resultType"] async for received in subscription.rest()] == ["complete"]
        here.host.emit(Change("tools"))
        assert (await listening.next())["method"] == CHANGED


@pytest.mark.needs("auth")
async def test_streams_of_a_token_end_after_a_reload_without_it() -> None:
    def config(*names: str) -> dict[str, Any]:
        return {"auth_token": {"callers": {name: {"token": TOKENS[name]} for name in names}}}

    async with Here(config("ada", "ben")).serving() as here:
        ada, ben = [await here.streams(Authorization=f"Bearer {TOKENS[name]}") for name in ("ada", "ben")]
        await here.host.reload(config=config_of(**config("ada")))
        await assert_ended(ben)
        await assert_open(here.host, ada)


@pytest.mark.needs("auth")
async def test_streams_of_strangers_end_after_a_reload_with_an_authenticator() -> None:
    async with Here({}).serving() as here:
        streams = await here.streams()
        await here.host.reload(config=config_of(auth_token={"token": TOKENS["ada"]}))
        await assert_ended(streams)


@pytest.mark.needs("auth")
async def test_streams_of_a_revoked_token_end_after_its_introspection() -> None:
    async with Issuer() as issuer:
        server = {"issuer": issuer.url, "introspection": {"client_id": "host", "client_secret": TOKENS["ben"]}}
        settings = {"resource": RESOURCE, "authorization_servers": [server], "introspected_seconds": 0}
        async with Here({"resource_server": settings}).serving() as here:
            streams = await here.streams(Authorization=f"Bearer {issuer.opaque('opaque-1')}")
            issuer.known.clear()
            await assert_ended(streams)
