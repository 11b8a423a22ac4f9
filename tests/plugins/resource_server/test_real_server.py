"""Tokens of an authorization server that we did not write: whom they let in, and what its restarts and outages do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.plugins.resource_server.conftest import METADATA, listed, serve
from tests.support.http import Served
from tests.support.http_mcp import Session, ask, call
from tests.support.oidc import OidcProvider

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]  # npm may have to bring it

QUICK = "refresh_interval_seconds = 0.05"


async def until(served: Served, token: str, status: int) -> None:
    """Ask until the answer has this status."""
    async with asyncio.timeout(30):
        while (await listed(served, token)).status != status:
            pass


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_its_tokens_open(site: Path, algorithm: str) -> None:
    """Client credentials, the audience by resource indicator, keys by its metadata."""
    provider = OidcProvider(algorithm)
    async with provider, serve(site, provider) as served:
        bearer = f"Bearer {await provider.token()}"
        done = await ask(served, call("door_who"), Authorization=bearer)
        assert done.result["content"][0]["text"] == "machine ['work']"
        assert (await ask(served, call("door_guarded"), Authorization=bearer)).status == 200
        session = Session(served)
        await session.open(Authorization=bearer)
        renewed = ("Authorization", f"Bearer {await provider.token()}")
        assert (await session.post(call("door_plain"), renewed)).status == 200


async def test_its_tokens_for_others_do_not(site: Path) -> None:
    provider = OidcProvider()
    async with provider, serve(site, provider) as served:
        for resource in ("https://tools.example.com/", "https://other.example.com/mcp"):
            answer = await listed(served, await provider.token(resource=resource))
            assert answer.status == 401
            assert "for another audience" in (answer.get("WWW-Authenticate") or "")


async def test_a_token_that_allows_too_little(site: Path) -> None:
    provider = OidcProvider()
    async with provider, serve(site, provider) as served:
        done = await ask(served, call("door_guarded"), Authorization=f"Bearer {await provider.token('other')}")
        told = done.answer.get("WWW-Authenticate") or ""
        assert done.status == 403
        assert told.endswith(f'scope="work", resource_metadata="{METADATA}"')


async def test_it_goes_and_comes_back_with_other_keys(site: Path) -> None:
    """Rows C-10 and C-11: known tokens serve while it is away, new keys are picked up when it is back."""
    provider = OidcProvider()
    async with serve(site, provider, settings=QUICK) as served:
        async with provider:
            old, spare = await provider.token(), await provider.token()
            assert (await listed(served, old)).status == 200
        for token in (old, spare):
            assert (await listed(served, token)).status == 200
        async with provider:
            new = await provider.token()
            await until(served, new, 200)
            assert (await listed(served, old)).status == 401
        assert (await listed(served, new)).status == 200
