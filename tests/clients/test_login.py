"""The official SDK's client at a guarded endpoint: it finds the authorization server, where a person logs in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.test_front_door_login import said
from tests.plugins.auth.auth_token import door_kit
from tests.support.http import Served, http_config
from tests.support.oidc import TOOLS_SECRET, OidcProvider, free_port
from tests.support.pool import make_site

pytestmark = pytest.mark.timeout(600)  # the first run makes an environment

AFTERWARDS = {
    "1": {"POST /mcp 200", "POST /mcp 202", "GET /mcp 200", "DELETE /mcp 204"},  # it is in a session
    "2": {"POST /mcp 200"},
}
ASKED = 'introspection = { client_id = "the tools", client_secret = { env = "TOOLS_SECRET" } }\n'


@pytest.mark.parametrize(("line", "tokens"), [("1", "OPAQUE"), ("2", "ES256")])
async def test_a_client_logs_in_and_calls_tools(tmp_path: Path, line: str, tokens: str) -> None:
    """Metadata, registration, authorization code with PKCE for this resource, and the tool that needs its scope."""
    make_site(tmp_path, {"door": door_kit})
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    provider = OidcProvider(tokens, resource)
    config = http_config(f"port = {port}", more=provider.guard + (ASKED if tokens == "OPAQUE" else ""))
    async with provider, Served(tmp_path, config, env={"TOOLS_SECRET": TOOLS_SECRET}) as served:
        for tool, text in (("door_who", "ann ['work']"), ("door_guarded", "done")):
            told = await said(line, f"{served.url.removesuffix('/mcp')}/mcp", tool)
            assert told["text"] == text
            assert told["asked"][:5] == [
                "POST /mcp 401",
                "GET /.well-known/oauth-protected-resource/mcp 200",
                "GET /.well-known/oauth-authorization-server 200",
                "POST /reg 201",
                "POST /token 200",
            ]
            assert "POST /mcp 200" in set(told["asked"][5:]) <= AFTERWARDS[line]
