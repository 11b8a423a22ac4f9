"""The server answers by the host that its metadata names, without another setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.resource_server.conftest import listed
from tests.support.http import Served, http_config
from tests.support.issuer import Issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")

METADATA = "/.well-known/oauth-protected-resource/mcp"


@pytest.mark.parametrize("public", ["tools.example.com", "tools.example.com:8443", "[2001:db8::1]:8443"])
async def test_the_host_of_the_resource_is_the_server_s_own(site: Path, public: str) -> None:
    name = public.removesuffix(":8443")
    async with Issuer() as issuer:
        own = f'[plugins.resource_server]\nresource = "https://{public}/mcp"\n'
        own += f'[[plugins.resource_server.authorization_servers]]\nissuer = "{issuer.url}"\n'
        async with Served(site, http_config(more=own)) as served:
            token = issuer.token(aud=f"https://{public}/mcp")
            for host in (public, name, name.upper()):
                assert (await listed(served, token, Host=host)).status == 200
                assert (await listed(served, None, Host=host)).status == 401
            assert (await listed(served, token, Host=name, Origin=f"https://{name}")).status == 200
            metadata = await served.request("GET", METADATA, [("Host", public)])
            assert metadata.json["resource"] == f"https://{public}/mcp"
            for host in ("evil.example", f"sub.{name}", f"{name}.evil.example"):
                assert (await listed(served, token, Host=host)).status == 421
