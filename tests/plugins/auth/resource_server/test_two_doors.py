"""Static tokens and tokens of an authorization server at one endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from tests.plugins.auth.auth_token.conftest import ADA, BEN, CALLERS, ENV
from tests.plugins.auth.resource_server.conftest import METADATA, listed, serve
from tests.support.http import Served
from tests.support.http_mcp import ask, call
from tests.support.issuer import Issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def broken() -> AsyncIterator[Issuer]:
    async with Issuer("/broken") as issuer:
        issuer.answer = web.Response(status=500)
        yield issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(site: Path, issuer: Issuer, broken: Issuer) -> AsyncIterator[Served]:
    settings = f'challenge_scopes = ["door"]\nrequired_scopes = ["other"]\n{CALLERS}'
    async with serve(site, issuer, broken, settings=settings, env=ENV) as served:
        yield served


async def test_either_token_is_accepted_even_during_an_outage(served: Served, issuer: Issuer, broken: Issuer) -> None:
    for token, who in ((ADA, "ada ['work']"), (issuer.token(), "ann ['other', 'work']")):
        done = await ask(served, call("door_who"), Authorization=f"Bearer {token}")
        assert done.result["content"][0]["text"] == who
    answer = await listed(served, broken.token())
    assert (answer.status, answer.get("Retry-After")) == (503, "10")


async def test_each_refusal_has_the_challenge_of_the_authorization_server(served: Served, issuer: Issuer) -> None:
    where = f'resource_metadata="{METADATA}"'
    invalid, insufficient = 'Bearer error="invalid_token", error_description=', 'Bearer error="insufficient_scope", '
    for token, status, start, end in (
        (None, 401, "Bearer ", f'{where}, scope="door other"'),
        (issuer.token(exp=1), 401, f'{invalid}"The token has expired.", ', f'{where}, scope="door other"'),
        ("x", 401, f'{invalid}"The token is not a JWT.", ', f'{where}, scope="door other"'),
        (issuer.token(scope="work"), 403, insufficient, f'{where}, scope="other"'),
    ):
        answer = await listed(served, token)
        challenge = answer.get("WWW-Authenticate") or ""
        assert answer.status == status
        assert challenge.startswith(start)
        assert challenge.endswith(end)
    done = await ask(served, call("door_guarded"), Authorization=f"Bearer {BEN}")
    challenge = done.answer.get("WWW-Authenticate") or ""
    assert done.refused == (403, -32602)
    assert challenge.startswith(insufficient)
    assert challenge.endswith(f'scope="work", {where}')
