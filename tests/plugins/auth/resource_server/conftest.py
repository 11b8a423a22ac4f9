"""Authorization servers on this machine, and a process or an authenticator that accepts their tokens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Self

import pytest_asyncio

from pegboard.types import Caller, Request, Response, header_fields
from pegboard_plugins.auth.resource_server.settings import ResourceServerConfig
from pegboard_plugins.auth.resource_server.token_authenticator import ResourceServerAuthenticator
from tests.support.http import Answer, Served, http_config
from tests.support.http_mcp import message, post
from tests.support.issuer import RESOURCE, Issuer
from tests.support.peer import WAIT

METADATA = "https://tools.example.com/.well-known/oauth-protected-resource/mcp"


def make_config(**changes: Any) -> ResourceServerConfig:
    servers = [{"issuer": "https://auth.example"}]
    return ResourceServerConfig.model_validate({"resource": RESOURCE, "authorization_servers": servers, **changes})


class Door:
    """The authenticator in this process: `async with Door(issuer) as door`.

    Args:
        issuers: the accepted authorization servers.
        server: more settings of each of them.
        settings: more settings of the plugin.
    """

    def __init__(self, *issuers: Issuer, server: Mapping[str, Any] | None = None, **settings: Any) -> None:
        servers = [{"issuer": issuer.url, **(server or {})} for issuer in issuers]
        config = make_config(**{"authorization_servers": servers, **settings})
        self.authenticator = ResourceServerAuthenticator(config)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.authenticator.close()

    async def ask(self, token: str, peer: str = "127.0.0.1") -> Caller | Response:
        fields = header_fields({"Authorization": f"Bearer {token}"})
        return await self.authenticator.authenticate(Request("POST", "/mcp", {}, fields, peer=peer))

    async def caller(self, token: str) -> Caller:
        answer = await self.ask(token)
        assert isinstance(answer, Caller), answer
        return answer

    async def refusal(self, token: str) -> Response:
        answer = await self.ask(token)
        assert isinstance(answer, Response), answer
        return answer

    async def status(self, token: str, peer: str = "127.0.0.1") -> int:
        """Return 200 for a caller, or the status of the refusal."""
        answer = await self.ask(token, peer)
        return 200 if isinstance(answer, Caller) else answer.status

    async def until(self, token: str, status: int) -> None:
        async with asyncio.timeout(WAIT):
            while await self.status(token) != status:  # noqa: ASYNC110  # the authenticator has no event
                await asyncio.sleep(0)


def serve(
    site: Path,
    *issuers: Issuer,
    settings: str = "",
    server: str = "",
    http: str = "",
    env: Mapping[str, str] | None = None,
) -> Served:
    """Start a server on all addresses, with more lines for the plugin, its authorization servers and HTTP."""
    own = f'\n[plugins.resource_server]\nresource = "{RESOURCE}"\n{settings}\n'
    for issuer in issuers:
        own += f'[[plugins.resource_server.authorization_servers]]\nissuer = "{issuer.url}"\n{server}\n'
    http = f'host = "0.0.0.0"\nport = 0\n{http}'
    return Served(site, http_config(http, more=own), env={"DOOR_SECRET": "hunter2", **(env or {})})


async def listed(served: Served, token: str | None, **fields: str) -> Answer:
    bearer = None if token is None else f"Bearer {token}"
    return await post(served, message("tools/list"), Authorization=bearer, **fields)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(site: Path, issuer: Issuer) -> AsyncIterator[Served]:
    settings = 'challenge_scopes = ["work"]\nscopes_supported = "work other"\nleeway_seconds = 60'
    async with serve(site, issuer, settings=settings) as served:
        yield served
