"""When a token begins and ends, to the second (row C-5): by a clock that stands, over sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.plugins.resource_server.conftest import listed, serve
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.issuer import Issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = 2_000_000_000
ASKED = 'introspection = { client_id = "tools", client_secret = "s" }'
LEEWAY = 60

EDGES = [
    ("exp", -LEEWAY + 1, 200),
    ("exp", -LEEWAY, 401),
    ("exp", -LEEWAY - 1, 401),
    ("nbf", LEEWAY - 1, 200),
    ("nbf", LEEWAY, 200),
    ("nbf", LEEWAY + 1, 401),
    ("iat", LEEWAY - 1, 200),
    ("iat", LEEWAY, 200),
    ("iat", LEEWAY + 1, 401),
]


@pytest.fixture(scope="module")
def frozen_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("frozen")
    files = {"frozen_kit.py": Path(__file__).with_name("frozen_kit.py").read_text("utf-8")}
    make_distribution(site, "frozen-kit", "1", {"pegboard.toolkits": {"frozen": "frozen_kit:kit"}}, files)
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def issuer_of_keys() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def issuer_to_ask() -> AsyncIterator[Issuer]:
    async with Issuer("/asked") as issuer:
        yield issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def door(frozen_site: Path, issuer_of_keys: Issuer, issuer_to_ask: Issuer) -> AsyncIterator[Served]:
    more = f'[[plugins.resource_server.authorization_servers]]\nissuer = "{issuer_of_keys.url}"'
    settings = f"leeway_seconds = {LEEWAY}"
    env = {"FROZEN_NOW": str(NOW)}
    async with serve(frozen_site, issuer_to_ask, settings=settings, server=f"{ASKED}\n{more}", env=env) as served:
        yield served


def times(claim: str, offset: int) -> dict[str, Any]:
    return {"exp": NOW + 600, "iat": NOW, claim: NOW + offset}


@pytest.mark.parametrize(("claim", "offset", "status"), EDGES)
async def test_the_leeway_is_what_is_configured(
    door: Served, issuer_of_keys: Issuer, issuer_to_ask: Issuer, claim: str, offset: int, status: int
) -> None:
    """Row C-5, for JWTs and for tokens to ask about; a second time, too."""
    claims = times(claim, offset)
    for token in (issuer_of_keys.token(**claims), issuer_to_ask.opaque(f"{claim}.{offset}", **claims)):
        assert [(await listed(door, token)).status for _ in range(2)] == [status] * 2


@pytest.mark.parametrize("asked", [False, True], ids=["keys", "introspection"])
async def test_a_server_may_have_another_than_the_rest(frozen_site: Path, asked: bool) -> None:
    server = "leeway_seconds = 0" + (f"\n{ASKED}" if asked else "")
    settings, env = f"leeway_seconds = {LEEWAY}", {"FROZEN_NOW": str(NOW)}
    async with Issuer() as issuer, serve(frozen_site, issuer, settings=settings, server=server, env=env) as served:
        for claim, offset, status in (("exp", 1, 200), ("exp", 0, 401), ("nbf", 0, 200), ("nbf", 1, 401)):
            claims = times(claim, offset)
            token = issuer.opaque(f"{claim}.{offset}", **claims) if asked else issuer.token(**claims)
            assert (await listed(served, token)).status == status
