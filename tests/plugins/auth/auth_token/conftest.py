"""A server with static tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest_asyncio

from tests.support.http import Served, http_config

ADA = "ada-0123456789abcdefghijklmnopqrstuvwxyz"
ADA_HOME = "home-0123456789abcdefghijklmnopqrstuvwxyz"
BEN = "ben-0123456789abcdefghijklmnopqrstuvwxyz=="
CALLERS = """
[plugins.auth_token.callers.ada]
token = { env = "ADA_TOKEN" }
scopes = ["work"]

[plugins.auth_token.callers.home]
token = { env = "ADA_HOME_TOKEN" }
subject = "ada"

[plugins.auth_token.callers.ben]
token = { env = "BEN_TOKEN" }
"""
ENV = {"ADA_TOKEN": ADA, "ADA_HOME_TOKEN": ADA_HOME, "BEN_TOKEN": BEN, "DOOR_SECRET": "hunter2"}


def serve(
    site: Path,
    settings: str = CALLERS,
    *,
    http: str = 'host = "0.0.0.0"\nport = 0',
    env: Mapping[str, str] = ENV,
) -> Served:
    return Served(site, http_config(http, more=settings), env=env)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(site: Path) -> AsyncIterator[Served]:
    async with serve(site) as served:
        yield served
