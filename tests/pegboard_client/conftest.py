"""Servers for the client: the same toolkits over Streamable HTTP, and over a message stream in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pegboard import Host
from pegboard.types import LOCAL
from pegboard_client import Client, Endpoint, Stream, http_session, listening
from tests.pegboard_client.pairs import StreamPair
from tests.support import asks_kit, content_kit, fixture_kit, growing_plugin, mirrored_kit
from tests.support.http import Served, http_config
from tests.support.login_server import server
from tests.support.pool import make_site
from tests.support.schemas import LEGACY, MODERN, REVISIONS

__all__ = ["server"]

Connect = Callable[..., Client]

KITS = {"fixture": fixture_kit, "asks": asks_kit, "mirrored": mirrored_kit, "content": content_kit}
SERVERS = [*(("http", revision) for revision in REVISIONS), ("stream", LEGACY[-1]), ("stream", MODERN[-1])]
HOST = 'plugins = ["growing"]\n'


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("client"), KITS, growing_plugin)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(site: Path) -> AsyncIterator[Served]:
    async with Served(site, http_config(host=HOST)) as served:
        yield served


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def host() -> AsyncIterator[Host]:
    kits = {name: module.kit for name, module in KITS.items()}
    config = {"host": {"autoload": False, "transports": []}}
    async with Host(config, plugins={"growing": growing_plugin.GrowingPlugin}, toolkits=kits) as host:
        yield host


@pytest.fixture
def reconnects(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Open lost streams again at once. Return the number of failures before each time."""
    failures: list[int] = []

    def no_delay(number: int) -> float:
        failures.append(number)
        return 0

    for module in (http_session, listening):
        monkeypatch.setattr(module, "reconnect_delay", no_delay)
    return failures


@pytest.fixture(params=SERVERS, ids="-".join)
def connect(request: pytest.FixtureRequest, served: Served, host: Host) -> Connect:
    """Return a client, not yet connected, of each revision over HTTP and of each era over a message stream."""
    transport, revision = request.param

    def connect(**options: Any) -> Client:
        options = {"timeout": 20, "revision": revision, **options}
        if transport == "http":
            return Client(Endpoint(f"http://127.0.0.1:{served.port}/mcp"), **options)
        pair = StreamPair()
        serving = asyncio.ensure_future(host.serve(pair.server, pair.server.messages(), caller=LOCAL))
        pair.client.kept = serving
        return Client(Stream(pair.client), **options)

    return connect
