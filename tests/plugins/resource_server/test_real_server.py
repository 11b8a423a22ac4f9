"""Tokens of a real authorization server, oidc-provider, its restarts and outages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.resource_server.conftest import METADATA, Door, listed, serve
from tests.support.http_mcp import ask, call
from tests.support.oidc import TOOLS_SECRET, OidcProvider

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]  # npm may have to bring it


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "Ed25519"])
async def test_its_tokens_are_accepted(algorithm: str) -> None:
    async with OidcProvider(algorithm) as provider, Door(provider) as door:
        caller = await door.caller(await provider.token())
        assert (caller.subject, list(caller.scopes)) == ("machine", ["work"])


async def test_its_tokens_are_checked_until_it_restarts_with_other_keys(site: Path) -> None:
    provider = OidcProvider("RS256")
    async with serve(site, provider, settings="refresh_interval_seconds = 0.05") as served:
        async with provider:
            old, spare = await provider.token(), await provider.token()
            assert (await ask(served, call("door_guarded"), Authorization=f"Bearer {old}")).status == 200
            for resource in ("https://tools.example.com/", "https://other.example.com/mcp"):
                answer = await listed(served, await provider.token(resource=resource))
                assert answer.status == 401
                assert "for another audience" in (answer.get("WWW-Authenticate") or "")
            done = await ask(served, call("door_guarded"), Authorization=f"Bearer {await provider.token('other')}")
            assert done.status == 403
            challenge = done.answer.get("WWW-Authenticate") or ""
            assert challenge.endswith(f'scope="work", resource_metadata="{METADATA}"')
        for token in (old, spare):
            assert (await listed(served, token)).status == 200
        async with provider:
            new = await provider.token()
            while (await listed(served, new)).status != 200:
                pass
            assert (await listed(served, old)).status == 401


async def test_it_is_asked_about_opaque_tokens(caplog: pytest.LogCaptureFixture) -> None:
    provider = OidcProvider("OPAQUE")
    login = {"client_id": "the tools", "client_secret": TOOLS_SECRET}
    settings = {"introspected_seconds": 30, "refresh_interval_seconds": 0.01}
    async with (
        Door(provider, server={"introspection": login}, **settings) as door,
        Door(provider, server={"introspection": login}, introspected_seconds=0) as fresh,
        Door(provider, server={"introspection": {**login, "client_secret": "wrong"}}) as wrong,
    ):
        async with provider:
            known, other = await provider.token(), await provider.token()
            assert "." not in known
            caller = await door.caller(known)
            assert (caller.subject, list(caller.scopes)) == ("client:machine", ["work"])
            assert await door.status(known[::-1]) == 401
            foreign = await provider.token(resource="https://other.example.com/mcp")
            assert "for another audience" in str(await door.refusal(foreign))
            assert await wrong.status(known) == 503
            assert "cannot validate tokens" in caplog.text
            assert await fresh.status(other) == 200
            await provider.revoke(other)
            await fresh.until(other, 401)
        assert [await door.status(token) for token in (known, other)] == [200, 503]  # during an outage
        async with provider:
            assert await door.status(other) == 401
            assert await door.status(await provider.token()) == 200
        assert TOOLS_SECRET not in caplog.text
