"""The whole login: our client, our guarded host, and a foreign authorization server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pegboard_client import Client, ClientCredentials, Endpoint, LoginRequiredError, OAuth, OAuthClient
from tests.plugins.auth.auth_token import door_kit
from tests.support.http import Served, http_config
from tests.support.oidc import OidcProvider, free_port
from tests.support.person import Person
from tests.support.pool import make_site

pytestmark = pytest.mark.timeout(180)  # the first run installs the authorization server


async def agree(url: str) -> None:
    """Log in and agree."""
    async with Person() as person:
        await person.open(url)
        assert "You can close this page" in person.shown[1]


async def test_a_person_and_a_program_log_in_and_call_a_tool(tmp_path: Path) -> None:
    make_site(tmp_path, {"door": door_kit})
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    provider = OidcProvider("ES256", resource)
    machine = ClientCredentials(OAuthClient("machine", "machine-secret-0123456789"), scopes=["work"])
    async with provider, Served(tmp_path, http_config(f"port = {port}", more=provider.guard)):
        with pytest.raises(LoginRequiredError, match="requires a login that allows openid, work"):
            await asyncio.wait_for(Client(resource).__aenter__(), 20)
        for auth, caller in ((OAuth(agree), "ann"), (machine, "machine")):
            async with Client(Endpoint(resource, auth=auth)) as client:
                answer = await client.call("door_who")
                assert answer["content"][0]["text"] == f"{caller} ['work']"
                assert (await client.call("door_guarded"))["content"][0]["text"] == "done"
