"""Issuers that nobody here wrote guard mounted servers, one for each way to register this host."""

from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest

from tests.plugins.servers.upstreams.mounts import guarded_peer
from tests.plugins.servers.upstreams.test_caller_login import hosting
from tests.support.example_servers import python_example, typescript_example
from tests.support.http import make_certificate, with_tls
from tests.support.http_mcp import call
from tests.support.oidc import free_port

pytestmark = pytest.mark.timeout(600)  # the first run installs the servers


@pytest.fixture
def tls(tmp_path: Path) -> str:
    """Return lines of `[plugins.http]` for a new certificate of localhost."""
    make_certificate(tmp_path)
    return with_tls(tmp_path)[0]


async def test_oidc_provider_reads_the_client_metadata_document_of_the_host(tmp_path: Path, tls: str) -> None:
    port, who = free_port(), call("cups_whoami")
    async with (
        guarded_peer(tmp_path, certificate=tmp_path / "cert.pem") as (_, peer),
        hosting(tmp_path, {"url": peer.url}, port=port, tls=tls) as network,
    ):
        person = await network.log_in("ann", who)
        assert person.shown[0] == 200, person.shown
        document = f"https://localhost:{port}/vault/client/"
        assert any(f"client_id={quote(document, safe='')}" in url for url in person.visited)
        assert (await network.ask("ann", who))["structuredContent"]["subject"] == "ann"


async def test_the_example_of_the_typescript_sdk_registers_the_host(tmp_path: Path) -> None:
    greet = call("cups_greet", {"name": "Ann"})
    async with typescript_example() as url, hosting(tmp_path, {"url": url}) as network:
        person = await network.log_in("ann", greet)
        assert person.shown[0] == 200, person.shown
        assert (await network.ask("ann", greet))["content"] == [{"type": "text", "text": "Hello, Ann!"}]


async def test_a_registration_by_hand_at_the_example_of_the_python_sdk(tmp_path: Path) -> None:
    port, time = free_port(), call("cups_get_time")
    async with python_example() as (url, issuer):
        document = {
            "redirect_uris": [f"http://127.0.0.1:{port}/vault/callback"],
            "token_endpoint_auth_method": "client_secret_basic",
        }
        async with aiohttp.ClientSession() as http, http.post(f"{issuer}/register", json=document) as reply:
            client = await reply.json()
        registration = {name: client[name] for name in ("client_id", "client_secret")}
        mounted = {"url": url, "issuer": f"{issuer}/", **registration}
        async with hosting(tmp_path, mounted, port=port) as network:
            person = await network.log_in("ann", time)
            assert person.shown[0] == 200, person.shown
            assert any(f"client_id={client['client_id']}" in page for page in person.visited)
            assert (await network.ask("ann", time))["structuredContent"]["timezone"] == "UTC"
