"""Clients of others log in at the front door by themselves, with an identity provider that knows nothing of MCP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pegboard_client import Client, Endpoint, OAuth
from tests.plugins.auth.login.front import Front
from tests.support.chromium import Chromium
from tests.support.npm import installed, node
from tests.support.oidc import OidcProvider
from tests.support.sdk import SCRIPTS, WAIT, sdk_python

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

PROVIDER = {"client_id": "vault", "client_secret": "vault-secret-0123456789"}

END = "document.body.innerText.includes('You can close this page')"
"""True on the last page of a login."""


def command(client: str) -> list[str | Path]:
    """Return the command of a client of the official SDKs."""
    if client == "typescript":
        return [node(), installed(SCRIPTS / "login.mjs", "@modelcontextprotocol/sdk", "1.32.2")]
    return [sdk_python(client), SCRIPTS / "login.py"]


async def said(client: str, *arguments: str) -> Any:
    """Run a client that logs in, and return its output."""
    program = await asyncio.to_thread(command, client)
    process = await asyncio.create_subprocess_exec(
        *program, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(WAIT):
        out, wrong = await process.communicate()
    assert process.returncode == 0, wrong.decode()
    return json.loads(out)


@pytest.mark.parametrize("client", ["1", "2", "typescript"])
async def test_a_client_logs_in_and_calls_a_tool(client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    async with OidcProvider(vault=True) as provider, Front(provider.url, PROVIDER, allowed_users=["ann"]) as front:
        assert (await said(client, front.resource, "guarded"))["text"] == "done"


async def test_a_person_agrees_in_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser applies the policies of the pages: of this host, of the provider, and at the end of the login."""
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    async with (
        Chromium(tmp_path / "browser") as browser,
        OidcProvider(vault=True) as provider,
        Front(provider.url, PROVIDER, allowed_users=["ann"]) as front,
    ):

        async def agree(url: str) -> None:
            await browser.open(url)
            await browser.until("document.querySelector('button[value=allow]') !== null")
            assert "The name of this program is not verified" in await browser.run("document.body.innerText")
            assert await browser.run("getComputedStyle(document.querySelector('dd')).overflowWrap") == "anywhere"
            await browser.agree(END)

        async with Client(Endpoint(front.resource, auth=OAuth(agree))) as client:
            assert (await client.call("guarded", {}))["content"][0]["text"] == "done"
