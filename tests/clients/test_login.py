"""The official SDK's client at a guarded endpoint: it finds the authorization server, where a person logs in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.plugins.auth.auth_token import door_kit
from tests.support.http import Served, http_config
from tests.support.oidc import TOOLS_SECRET, OidcProvider, free_port
from tests.support.pool import make_site
from tests.support.sdk import SCRIPTS, WAIT, sdk_python

pytestmark = pytest.mark.timeout(600)  # the first run makes an environment

CONFIG = """
[plugins.resource_server]
resource = "{resource}"
challenge_scopes = ["openid", "work"]

[[plugins.resource_server.authorization_servers]]
issuer = "{issuer}"
"""
AFTERWARDS = {
    "1": {"POST /mcp 200", "POST /mcp 202", "GET /mcp 200", "DELETE /mcp 204"},  # it is in a session
    "2": {"POST /mcp 200"},
}
ASKED = 'introspection = { client_id = "the tools", client_secret = { env = "TOOLS_SECRET" } }\n'


@pytest.mark.parametrize(("line", "tokens"), [("1", "OPAQUE"), ("2", "ES256")])
async def test_a_client_logs_in_and_calls_tools(tmp_path: Path, line: str, tokens: str) -> None:
    """Metadata, registration, authorization code with PKCE for this resource, and the tool that needs its scope."""
    python = await asyncio.to_thread(sdk_python, line)
    make_site(tmp_path, {"door": door_kit})
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    provider = OidcProvider(tokens, resource)
    config = http_config(f"port = {port}", more=CONFIG.format(resource=resource, issuer=provider.url))
    config += ASKED if tokens == "OPAQUE" else ""
    async with provider, Served(tmp_path, config, env={"TOOLS_SECRET": TOOLS_SECRET}) as served:
        for tool, text in (("door_who", "ann ['work']"), ("door_guarded", "done")):
            client = await asyncio.create_subprocess_exec(
                python,
                SCRIPTS / "login.py",
                f"{served.url.removesuffix('/mcp')}/mcp",
                tool,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            async with asyncio.timeout(WAIT):
                said, wrong = await client.communicate()
            assert client.returncode == 0, wrong.decode()
            told = json.loads(said)
            assert told["text"] == text
            assert told["asked"][:5] == [
                "POST /mcp 401",
                "GET /.well-known/oauth-protected-resource/mcp 200",
                "GET /.well-known/oauth-authorization-server 200",
                "POST /reg 201",
                "POST /token 200",
            ]
            assert "POST /mcp 200" in set(told["asked"][5:]) <= AFTERWARDS[line]
