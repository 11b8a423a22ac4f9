"""A host that delegates logins to a scripted provider."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.plugins.auth.login.front import Front
from tests.plugins.auth.login.identity_server import IdentityServer


@pytest.fixture
async def provider() -> AsyncIterator[IdentityServer]:
    async with IdentityServer() as provider:
        yield provider


@pytest.fixture
async def front(provider: IdentityServer) -> AsyncIterator[Front]:
    async with Front(provider.url) as front:
        yield front


@pytest.fixture
async def client(front: Front) -> str:
    return await front.client()
