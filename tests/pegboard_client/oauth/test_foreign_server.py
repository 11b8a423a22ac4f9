"""The whole login: our client, our guarded host, and a foreign authorization server."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import urljoin

import aiohttp
import pytest

from pegboard_client import Client, ClientCredentials, Endpoint, LoginRequiredError, OAuth, OAuthClient
from tests.plugins.auth.auth_token import door_kit
from tests.support.http import Served, http_config
from tests.support.oidc import OidcProvider, free_port
from tests.support.pool import make_site

pytestmark = pytest.mark.timeout(180)  # the first run installs the authorization server

CONFIG = """
[plugins.resource_server]
resource = "{resource}"
challenge_scopes = ["openid", "work"]

[[plugins.resource_server.authorization_servers]]
issuer = "{issuer}"
"""


async def agree(url: str) -> None:
    """Log in and agree, in a browser without a screen."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        answer = await browser.get(url)
        while action := re.search(r'<form[^>]* action="([^"]+)"', text := await answer.text()):
            fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', text))
            target = urljoin(str(answer.url), action[1])
            answer = await browser.post(target, data={**fields, "login": "ann", "password": "any"})
        assert "You can close this page" in text


async def test_a_person_and_a_program_log_in_and_call_a_tool(tmp_path: Path) -> None:
    make_site(tmp_path, {"door": door_kit})
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    provider = OidcProvider("ES256", resource)
    machine = ClientCredentials(OAuthClient("machine", "machine-secret-0123456789"), scopes=["work"])
    config = http_config(f"port = {port}", more=CONFIG.format(resource=resource, issuer=provider.url))
    async with provider, Served(tmp_path, config):
        with pytest.raises(LoginRequiredError, match="requires a login that allows openid, work"):
            await asyncio.wait_for(Client(resource).__aenter__(), 20)
        for auth, caller in ((OAuth(agree), "ann"), (machine, "machine")):
            async with Client(Endpoint(resource, auth=auth)) as client:
                answer = await client.call("door_who")
                assert answer["content"][0]["text"] == f"{caller} ['work']"
                assert (await client.call("door_guarded"))["content"][0]["text"] == "done"
