"""Processes of `pegboard serve` that tests share; others start their own, `Served(...)`.

They run on asyncio's own event loop, except `strict`; the tests of both transports run on uvloop.
"""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.distributions import make_distribution
from tests.support.http import Served, http_config, make_certificate, without_uvloop
from tests.support.http_mcp import Session, opened
from tests.support.pool import ASKING, make_asking_site, make_fixture_site


@pytest.fixture(scope="session")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the toolkits `fixture` and `hostile`, for a server on asyncio's own event loop."""
    return without_uvloop(make_fixture_site(tmp_path_factory.mktemp("site")))


@pytest.fixture(scope="session")
def asking_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the plugin `asking`."""
    return without_uvloop(make_asking_site(tmp_path_factory.mktemp("asking")))


LIMITS = """
port = 0
max_body_bytes = 65536
stream_ping_seconds = 0.1
cors_origins = ["https://app.example", "https://Other.Example:8443", "https://sso.example/"]
cors_credentials = true
"""
"""Small limits, so that tests need not wait."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(fixture_site: Path) -> AsyncIterator[Served]:
    """The server that tests share."""
    async with Served(fixture_site) as served:
        yield served


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def strict(sites: dict[str, Path]) -> AsyncIterator[Served]:
    """A server on uvloop with small limits, and web origins that may use it."""
    async with Served(sites["fixture"], http_config(LIMITS)) as served:
        yield served


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def impatient(fixture_site: Path) -> AsyncIterator[Served]:
    """A server that does not wait for slow clients; a client on a busy machine may miss its limits."""
    async with Served(fixture_site, http_config(LIMITS + "header_seconds = 0.3\nbody_seconds = 0.3\n")) as served:
        yield served


@pytest_asyncio.fixture(loop_scope="session")
async def session(served: Served) -> Session:
    """A session of the newest revision that has them."""
    return await opened(served)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def asking(asking_site: Path) -> AsyncIterator[Served]:
    """A server with the plugin `asking`."""
    async with Served(asking_site, http_config(host=ASKING)) as served:
        yield served


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A toolkit with a tool that needs a secret."""
    text = (
        "from pegboard import Toolkit, Context\n"
        'kit = Toolkit("vault")\n'
        '@kit.tool(requires_secrets=["SECRET_KEY"])\n'
        "def peek(context: Context) -> str:\n"
        '    """Tell the secret."""\n'
        '    return context.get_secret("SECRET_KEY")\n'
        "@kit.tool\n"
        "def plain() -> str:\n"
        '    """Tell nothing."""\n'
        '    return "plain"\n'
    )
    make_distribution(tmp_path, "vault", "1", {"pegboard.toolkits": {"vault": "vault_kit:kit"}}, {"vault_kit.py": text})
    return tmp_path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate for localhost, its key, and the same key behind a passphrase."""
    folder = tmp_path_factory.mktemp("tls")
    make_certificate(folder)
    lock = "openssl rsa -aes256 -passout pass:secret -in key.pem -out locked.pem"
    subprocess.run(lock.split(), cwd=folder, check=True, capture_output=True)
    return folder
