"""Tokens of a real authorization server, oidc-provider, its restarts and outages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.resource_server.conftest import METADATA, listed, serve, until
from tests.support.http_mcp import Session, ask, call
from tests.support.oidc import TOOLS_SECRET, OidcProvider

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]  # npm may have to bring it

QUICK = "refresh_interval_seconds = 0.05"
ASKED = 'introspection = { client_id = "the tools", client_secret = { env = "TOOLS_SECRET" } }'
ENV = {"TOOLS_SECRET": TOOLS_SECRET}


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA", "Ed25519"])
async def test_its_tokens_are_accepted(site: Path, algorithm: str) -> None:
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


async def test_tokens_for_other_resources_or_with_other_scopes_are_refused(site: Path) -> None:
    provider = OidcProvider()
    async with provider, serve(site, provider) as served:
        for resource in ("https://tools.example.com/", "https://other.example.com/mcp"):
            answer = await listed(served, await provider.token(resource=resource))
            assert answer.status == 401
            assert "for another audience" in (answer.get("WWW-Authenticate") or "")
        done = await ask(served, call("door_guarded"), Authorization=f"Bearer {await provider.token('other')}")
        told = done.answer.get("WWW-Authenticate") or ""
        assert done.status == 403
        assert told.endswith(f'scope="work", resource_metadata="{METADATA}"')


async def test_it_restarts_with_other_keys(site: Path) -> None:
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


async def test_it_is_asked_about_opaque_tokens(site: Path) -> None:
    provider = OidcProvider("OPAQUE")
    settings = "introspected_seconds = 0.1"
    async with provider, serve(site, provider, settings=settings, server=ASKED, env=ENV) as served:
        token, other = await provider.token(), await provider.token(resource="https://other.example.com/mcp")
        assert "." not in token
        done = await ask(served, call("door_who"), Authorization=f"Bearer {token}")
        assert done.result["content"][0]["text"] == "client:machine ['work']"
        assert (await listed(served, token[::-1])).status == 401
        assert "for another audience" in ((await listed(served, other)).get("WWW-Authenticate") or "")
        weak = f"Bearer {await provider.token('other')}"
        assert (await ask(served, call("door_guarded"), Authorization=weak)).status == 403
        await provider.revoke(token)
        await until(served, token, 401)
        assert TOOLS_SECRET not in served.stderr


async def test_new_opaque_tokens_are_refused_during_an_outage(site: Path) -> None:
    provider = OidcProvider("OPAQUE")
    async with serve(site, provider, server=ASKED, env=ENV) as served:
        async with provider:
            known, other = await provider.token(), await provider.token()
            assert (await listed(served, known)).status == 200
        assert [(await listed(served, token)).status for token in (known, other)] == [200, 503]
        async with provider:
            assert (await listed(served, other)).status == 401  # it has forgotten it
            assert (await listed(served, await provider.token())).status == 200


async def test_a_wrong_client_secret_is_503(site: Path) -> None:
    provider = OidcProvider("OPAQUE")
    async with provider, serve(site, provider, server=ASKED, env={"TOOLS_SECRET": "wrong"}) as served:
        assert (await listed(served, await provider.token())).status == 503
        await served.said("cannot be asked about tokens: .* returned status 401")
