"""Issuers that nobody here wrote guard mounted servers, one for each way to register this host."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest

from tests.plugins.servers.upstreams.mounts import guarded_peer
from tests.plugins.servers.upstreams.test_caller_login import hosting
from tests.support.environments import run
from tests.support.http import make_certificate, with_tls
from tests.support.http_mcp import call
from tests.support.npm import fcntl, node, package_folder
from tests.support.oidc import free_port
from tests.support.sdk import sdk_python
from tools.install import ROOT

TYPESCRIPT = "@modelcontextprotocol/sdk", "1.32.2"
PYTHON = "mcp", "1.30.0"
WAIT = 60.0


@asynccontextmanager
async def started(*command: str | Path, ready: bytes, folder: Path, env: Mapping[str, str]) -> AsyncIterator[None]:
    """Run a program, and wait until it prints that it is ready."""
    pipe, both = asyncio.subprocess.PIPE, subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={**os.environ, **env}, stdout=pipe, stderr=both
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(WAIT):
            while ready not in (line := await process.stdout.readline()):
                assert line, "it has ended"
        yield
    finally:
        process.kill()
        await process.communicate()


@asynccontextmanager
async def typescript_example() -> AsyncIterator[str]:
    """Serve the example of the TypeScript SDK, whose issuer registers clients. Yield its URL."""
    folder = await asyncio.to_thread(package_folder, *TYPESCRIPT)
    script = folder / "node_modules" / TYPESCRIPT[0] / "dist/esm/examples/server/simpleStreamableHttp.js"
    port = free_port()
    env = {"MCP_PORT": str(port), "MCP_AUTH_PORT": str(free_port())}
    ready = f"listening on port {port}".encode()
    async with started(node(), script, "--oauth", ready=ready, folder=folder, env=env):
        yield f"http://localhost:{port}/mcp"


@asynccontextmanager
async def python_example() -> AsyncIterator[tuple[str, str]]:
    """Serve the example of the Python SDK. Yield its URL and that of its issuer."""
    python = await asyncio.to_thread(sdk_python, "1")
    folder = await asyncio.to_thread(_python_sources)
    port, issuer_port = str(free_port()), str(free_port())
    issuer = f"http://localhost:{issuer_port}"
    own = (python, "-m", "mcp_simple_auth.auth_server", "--port", issuer_port)
    server = (python, "-m", "mcp_simple_auth.server", "--port", port, "--auth-server", issuer)
    async with (
        started(*own, ready=b"running on http", folder=folder, env={"MCP_DEMO_PASSWORD": "any"}),
        started(*server, ready=b"running on http", folder=folder, env={}),
    ):
        yield f"http://localhost:{port}/mcp", issuer


def _python_sources() -> Path:
    """Return the folder of the example in the source distribution. The first caller downloads it; others wait."""
    name, version = PYTHON
    place = ROOT / ".cache" / f"{name}-{version}"
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(place.glob("*.tar.gz")):
            options = ("--no-deps", "--no-binary", name, "--dest", place)
            run(sys.executable, "-m", "pip", "download", "--quiet", *options, f"{name}=={version}")
        (archive,) = place.glob("*.tar.gz")
        run("tar", "-xzf", archive, "-C", place)
    return place / f"{name}-{version}" / "examples" / "servers" / "simple-auth"


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
