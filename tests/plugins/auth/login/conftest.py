"""A host that delegates logins to a scripted provider."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.plugins.auth.login.front import Front
from tests.plugins.auth.login.identity_server import IdentityServer


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state directory of the test."""
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    return tmp_path


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[IdentityServer]:
    async with IdentityServer() as provider:
        yield provider


@pytest_asyncio.fixture
async def front(provider: IdentityServer) -> AsyncIterator[Front]:
    async with Front(provider.url) as front:
        yield front
