"""A GitHub on this machine, what exists there, and hosts that serve the toolkit against it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from typing import Any

import pytest

from pegboard import Host
from toolkit_github import kit
from toolkits.github.tests.support import on_actions, on_contents, on_issues, on_pulls, on_repositories
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import TOKEN, GithubServer
from toolkits.github.tests.support.storage import Storage
from toolkits.github.tests.support.world import World

ANSWERING = (on_actions, on_contents, on_issues, on_pulls, on_repositories)
"""Importing them has taught the world to answer."""


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def storage(world: World) -> AsyncIterator[Storage]:
    async with Storage() as storage:
        world.storage = storage.url
        yield storage


@pytest.fixture
async def github(world: World) -> AsyncIterator[GithubServer]:
    """The server; at the end of the test nothing must have been asked or answered that the description forbids."""
    async with GithubServer(world) as server:
        yield server
        assert server.faults == []


@pytest.fixture
def offered() -> AbstractSet[str] | None:
    """The tools that the tests of a module need, so that its hosts start fast; None for all there are."""
    return None


@pytest.fixture
async def serve(
    offered: AbstractSet[str] | None,
    github: GithubServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Serve]:
    """Start a host against the server: `await serve(token=..., write=True, ...)` with settings of the toolkit."""
    async with AsyncExitStack() as stack:
        monkeypatch.chdir(tmp_path_factory.mktemp("empty"))

        names = {f"github_{tool.name or tool.function.__name__}" for tool in kit.register_tools()}
        disabled = set() if offered is None else names - {f"github_{name}" for name in offered}

        async def start(*, token: str = TOKEN, **settings: Any) -> Served:
            monkeypatch.setenv("GITHUB_TOKEN", token)
            config: Mapping[str, Any] = {
                "host": {"autoload": False, "secret_stores": ["secrets_env"], "disabled_tools": sorted(disabled)},
                "toolkits": {"github": {"base_url": github.url, **settings}},
            }
            return Served(await stack.enter_async_context(Host(config)))

        yield start


@pytest.fixture
async def tools(serve: Serve) -> Served:
    """A host that may write."""
    return await serve(write=True)


@pytest.fixture
def unused_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port
