"""Streams end with the token that opened them, over sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from time import time

import pytest
import pytest_asyncio

from tests.plugins.auth.resource_server.conftest import serve
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.http_mcp import Streaming, ask, call, message, opened, stream
from tests.support.issuer import Issuer
from tests.support.pool import make_asking_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

HASTY = """
from pegboard import Toolkit
from pegboard_plugins.protocols.mcp import token_lifetime

kit = Toolkit("hasty")
token_lifetime.MIN_LIFETIME_SECONDS = 0.2
"""
"""A toolkit without tools that ends streams with their token at once, instead of up to a minute later."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def door(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> AsyncIterator[Served]:
    site = make_asking_site(tmp_path_factory.mktemp("hasty"))
    make_distribution(site, "hasty", "1", {"pegboard.toolkits": {"hasty": "hasty_kit:kit"}}, {"hasty_kit.py": HASTY})
    env = {"PEGBOARD__HOST__PLUGINS": '["asking"]'}
    async with serve(site, issuer, settings="leeway_seconds = 60", env=env) as served:
        yield served


def ended(issuer: Issuer) -> str:
    """Return a bearer token that is valid during the leeway only."""
    return f"Bearer {issuer.token(exp=int(time()) - 5)}"


async def change(door: Served, issuer: Issuer) -> None:
    done = await ask(door, call("asking_change", {"what": ["x://a"]}), Authorization=f"Bearer {issuer.token()}")
    assert done.result["isError"] is False


async def subscribed(door: Served, bearer: str) -> Streaming:
    request = message("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["x://a"]}})
    return await stream(door, request, Authorization=bearer)


async def test_a_subscription_ends_with_its_response(door: Served, issuer: Issuer) -> None:
    going, ending = await subscribed(door, f"Bearer {issuer.token()}"), await subscribed(door, ended(issuer))
    assert [received["result"]["resultType"] async for received in ending.rest()] == ["complete"]
    await change(door, issuer)
    assert (await going.next())["params"]["uri"] == "x://a"


async def test_a_stream_of_a_session_ends_and_is_resumed_with_a_new_token(door: Served, issuer: Issuer) -> None:
    renewed = ("Authorization", f"Bearer {issuer.token()}")
    session = await opened(door, Authorization=renewed[1])
    assert "result" in (await session.post(message("resources/subscribe", {"uri": "x://a"}), renewed)).last
    begun = await session.listen(None, ("Authorization", ended(issuer)))
    assert [received async for received in begun.rest()] == []
    await change(door, issuer)
    resumed = await session.listen(begun.events[0].id, renewed)
    assert (await resumed.next())["params"]["uri"] == "x://a"
