"""A GitHub on this machine, and hosts that serve the toolkit against it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, Protocol

import pytest
import pytest_asyncio

from pegboard import Host, ToolkitError, ToolResult
from pegboard.types import Call, Failure, Outcome
from toolkits.github.tests.support.server import TOKEN, GithubServer, Storage


class Served:
    """A host with the toolkit."""

    def __init__(self, host: Host) -> None:
        self.host = host

    async def outcome(self, tool: str, **arguments: Any) -> Outcome:
        return await self.host.dispatch(Call("tools/call", {"name": f"github_{tool}", "arguments": arguments}))

    async def call(self, tool: str, **arguments: Any) -> Any:
        outcome = await self.outcome(tool, **arguments)
        assert isinstance(outcome, ToolResult), outcome
        return outcome.value

    async def fail(self, tool: str, **arguments: Any) -> ToolkitError:
        outcome = await self.outcome(tool, **arguments)
        assert isinstance(outcome, Failure), outcome
        assert isinstance(outcome.error, ToolkitError), outcome.error
        return outcome.error


class Serve(Protocol):
    """Start a host against the server of the test, with settings of the toolkit."""

    async def __call__(self, *, token: str = ..., **settings: Any) -> Served: ...


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[GithubServer]:
    async with GithubServer() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def github(server: GithubServer) -> AsyncIterator[GithubServer]:
    """The server of the module without scripts. All requests and responses of the test must match the description."""
    server.reset()
    yield server
    assert server.faults == []


@pytest_asyncio.fixture(loop_scope="module")
async def storage(github: GithubServer) -> AsyncIterator[Storage]:
    async with Storage() as storage:
        github.log = f"{storage.url}/log?sig=c2lnbmVk%2B&se=2026"
        yield storage


@pytest_asyncio.fixture(loop_scope="module")
async def serve(github: GithubServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(*, token: str = TOKEN, **settings: Any) -> Served:
            monkeypatch.setenv("GITHUB_TOKEN", token)
            config = {
                "host": {"autoload": False, "secret_stores": ["secrets_env"]},
                "toolkits": {"github": {"base_url": github.url, **settings}},
            }
            return Served(await stack.enter_async_context(Host(config)))

        yield start


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(server: GithubServer) -> AsyncIterator[Served]:
    config = {
        "host": {"autoload": False},
        "plugins": {"static_tokens": {"tokens": {"github": TOKEN}}},
        "toolkits": {"github": {"base_url": server.url, "write": True, "cache_bytes": 0}},
    }
    async with Host(config) as host:
        yield Served(host)


@pytest.fixture
def tools(shared: Served, github: GithubServer) -> Served:
    """A host of the module that may write and has no cache."""
    return shared


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port
