"""Hosts over stdio and HTTP that tests share, and clients of each revision.

A test that ends its host, or needs its own configuration, takes `start`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support import asks_kit, content_kit, growing_plugin
from tests.support.mcp_client import NEWEST, TRANSPORTS, McpClient, McpServer
from tests.support.pool import ASKING, FIXTURE, make_asking_site, make_site
from tests.support.schemas import LEGACY, MODERN, REVISIONS

HERE = Path(__file__).parent
Start = Callable[..., McpServer]

KITS = {"fixture": FIXTURE, "content": {"content": content_kit}, "asks": {"asks": asks_kit}}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder on the event loop of the session, on which the shared hosts run."""
    for item in items:
        if pytest_asyncio.is_async_test(item) and item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each group of toolkits; `asking` and `growing` are plugins that `[host] plugins` must name."""
    folders = {name: make_site(tmp_path_factory.mktemp(name), kits) for name, kits in KITS.items()}
    asking, growing = tmp_path_factory.mktemp("asking"), tmp_path_factory.mktemp("growing")
    return folders | {"asking": make_asking_site(asking), "growing": make_site(growing, {}, growing_plugin)}


class Servers:
    """Hosts by transport and site, each started when it is first requested."""

    def __init__(self, sites: dict[str, Path], stack: AsyncExitStack) -> None:
        self._sites = sites
        self._stack = stack
        self._running: dict[tuple[str, str], McpServer] = {}

    async def get(self, transport: str, site: str) -> McpServer:
        """Return a running host."""
        key = transport, site
        if key not in self._running:
            host = ASKING if site == "asking" else ""
            server = McpServer(transport, self._sites[site], host=host)
            self._running[key] = await self._stack.enter_async_context(server)
        return self._running[key]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def servers(sites: dict[str, Path]) -> AsyncIterator[Servers]:
    """The hosts that tests share."""
    async with AsyncExitStack() as stack:
        yield Servers(sites, stack)


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    """Each transport."""
    chosen: str = request.param
    return chosen


@pytest.fixture
def start(transport: str, sites: dict[str, Path]) -> Start:
    """Start a host of the test's own over a transport: `async with start("[plugins.x]", host=...) as server`."""

    def started(more: str = "", *, site: str = "fixture", **options: object) -> McpServer:
        return McpServer(transport, sites[site], more=more, **options)  # type: ignore[arg-type]  # passed on

    return started


@pytest.fixture
def group(request: pytest.FixtureRequest) -> str:
    """The toolkits of the shared hosts: `GROUP` of a module, or `fixture`."""
    named: str = getattr(request.module, "GROUP", "fixture")
    return named


@pytest_asyncio.fixture(loop_scope="session")
async def server(servers: Servers, transport: str, group: str) -> McpServer:
    """The shared host over each transport."""
    return await servers.get(transport, group)


@pytest_asyncio.fixture(loop_scope="session")
async def legacy(server: McpServer) -> McpClient:
    """A client in a session of the newest legacy revision."""
    return await server.shared(LEGACY[-1])  # type: ignore[no-any-return]


@pytest_asyncio.fixture(loop_scope="session")
async def modern(server: McpServer) -> McpClient:
    """A client of the newest revision."""
    return await server.shared(MODERN[-1])  # type: ignore[no-any-return]


@pytest_asyncio.fixture(loop_scope="session", params=NEWEST)
async def client(server: McpServer, request: pytest.FixtureRequest) -> McpClient:
    """A client of the newest revision of either era, over each transport."""
    return await server.shared(request.param)  # type: ignore[no-any-return]


@pytest_asyncio.fixture(loop_scope="session", params=LEGACY)
async def session(servers: Servers, group: str, request: pytest.FixtureRequest) -> McpClient:
    """A client in a session of each legacy revision, over HTTP: revisions do not depend on the transport."""
    return await (await servers.get("http", group)).shared(request.param)  # type: ignore[no-any-return]


@pytest_asyncio.fixture(loop_scope="session", params=REVISIONS)
async def every(servers: Servers, group: str, request: pytest.FixtureRequest) -> McpClient:
    """A client of each revision, over HTTP."""
    return await (await servers.get("http", group)).shared(request.param)  # type: ignore[no-any-return]


@pytest_asyncio.fixture(loop_scope="session", params=NEWEST)
async def either(servers: Servers, group: str, request: pytest.FixtureRequest) -> McpClient:
    """A client of the newest revision of either era, over HTTP."""
    return await (await servers.get("http", group)).shared(request.param)  # type: ignore[no-any-return]
