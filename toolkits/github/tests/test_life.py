"""One session a host, closed with it; a call that is cancelled leaves nothing behind."""

from __future__ import annotations

import asyncio

import pytest

from pegboard import Host
from pegboard.types import Call
from toolkit_github.client import Ask, Client
from toolkit_github.config import GithubConfig
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import TOKEN, GithubServer, Reply, Silence
from toolkits.github.tests.support.world import REPO


@pytest.fixture
def offered() -> set[str]:
    return {"get_issue", "whoami"}


async def test_calls_share_one_session_and_its_connections(tools: Served, github: GithubServer) -> None:
    for _ in range(5):
        await tools.call("whoami")
    assert len(github.seen) == 5
    assert len(github.connections) == 1


async def test_many_calls_at_once_open_one_session_and_few_connections(tools: Served, github: GithubServer) -> None:
    await asyncio.gather(*(tools.call("get_issue", repo=REPO, number=1347) for _ in range(50)))
    assert len(github.seen) == 50
    assert len(github.connections) <= 16


async def test_each_host_has_a_session_of_its_own(serve: Serve, github: GithubServer) -> None:
    for served in (await serve(), await serve()):
        await served.call("whoami")
    assert len(github.connections) == 2


async def test_the_session_ends_with_the_host(github: GithubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    config = {"host": {"autoload": False}, "toolkits": {"github": {"base_url": github.url}}}
    async with Host(config) as host:
        await host.dispatch(Call("tools/call", {"name": "github_whoami", "arguments": {}}))
        state = host.assembly.tools["github_whoami"].owner.state
        session = state._session
        assert not session.closed
    assert session.closed


async def test_a_closed_client_opens_nothing_again(github: GithubServer) -> None:
    client = Client(GithubConfig(base_url=github.url))
    await client.close()
    with pytest.raises(Exception, match="The host is stopping"):
        await client.ask(Ask("x", "/user"), TOKEN)
    assert github.seen == []


async def test_a_cancelled_call_ends_its_request(tools: Served, github: GithubServer) -> None:
    github.script("issues/get", Silence())
    call = asyncio.create_task(tools.outcome("get_issue", repo=REPO, number=1347))
    async with asyncio.timeout(5):
        await github.waiting.wait()
        call.cancel()
        await asyncio.wait([call])
        await github.abandoned.wait()
    assert call.cancelled()
    assert (await tools.call("get_issue", repo=REPO, number=1347))["number"] == 1347


async def test_no_cookie_is_kept(serve: Serve, github: GithubServer) -> None:
    served = await serve(base_url=github.url.replace("127.0.0.1", "localhost"))  # of an address none would be anyway
    github.script("users/get-authenticated", Reply(200, example("users/get-authenticated"), {"Set-Cookie": "a=b"}))
    for _ in range(2):
        await served.call("whoami")  # the server tells of a Cookie header
