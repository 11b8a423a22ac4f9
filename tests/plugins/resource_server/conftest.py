"""A server that accepts tokens of an authorization server on this machine."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from tests.plugins.auth_token import door_kit
from tests.support.distributions import make_distribution
from tests.support.http import Answer, Served, http_config
from tests.support.http_mcp import message, mirrored, modern
from tests.support.issuer import RESOURCE, Issuer
from tests.support.oidc import OidcProvider
from tests.support.peer import WAIT

METADATA = "https://tools.example.com/.well-known/oauth-protected-resource/mcp"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("guarded")
    files = {"door_kit.py": inspect.getsource(door_kit)}
    make_distribution(site, "door-kit", "1", {"pegboard.toolkits": {"door": "door_kit:kit"}}, files)
    return site


def serve(
    site: Path,
    *issuers: Issuer | OidcProvider,
    settings: str = "",
    server: str = "",
    http: str = "",
    env: Mapping[str, str] | None = None,
    ready: bool = True,
) -> Served:
    """Start a server on all addresses, with more lines for the plugin, its authorization servers and HTTP."""
    own = f'\n[plugins.resource_server]\nresource = "{RESOURCE}"\n{settings}\n'
    for issuer in issuers:
        own += f'[[plugins.resource_server.authorization_servers]]\nissuer = "{issuer.url}"\n{server}\n'
    http = f'host = "0.0.0.0"\nport = 0\n{http}'
    return Served(site, http_config(http, more=own), env={"DOOR_SECRET": "hunter2", **(env or {})}, ready=ready)


async def listed(served: Served, token: str | None, **fields: str) -> Answer:
    """List the tools, with more headers."""
    one = modern(message("tools/list"))
    bearer = None if token is None else f"Bearer {token}"
    return await served.request("POST", "/mcp", mirrored(one, Authorization=bearer, **fields), json.dumps(one).encode())


async def until(served: Served, token: str, status: int) -> None:
    """Send requests until the response has this status."""
    async with asyncio.timeout(WAIT):
        while (await listed(served, token)).status != status:
            pass


async def storm(served: Served, tokens: Sequence[str], connections: int) -> list[int]:
    """List the tools with each token, on several connections. Return the statuses."""
    one = modern(message("tools/list"))
    body, rest, found = json.dumps(one).encode(), list(tokens), []

    async def ask() -> None:
        async with await served.connect() as line:
            while rest:
                fields = mirrored(one, Authorization=f"Bearer {rest.pop()}")
                found.append((await line.request("POST", "/mcp", fields, body)).status)

    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(ask())
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(site: Path, issuer: Issuer) -> AsyncIterator[Served]:
    settings = 'challenge_scopes = ["work"]\nscopes_supported = "work other"\nleeway_seconds = 60'
    async with serve(site, issuer, settings=settings) as served:
        yield served
