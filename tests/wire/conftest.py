"""Hosts for the tests of the wire: one process for each revision, shared by all that leave nothing behind in it.

A test that ends its host, or needs one of its own, takes `pool.new()`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.pool import Pool, make_fixture_site
from tests.support.schemas import LEGACY, MODERN, REVISIONS
from tests.support.wire import Wire


@pytest.fixture(scope="session")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose distribution brings the toolkits `fixture` and `hostile`."""
    return make_fixture_site(tmp_path_factory.mktemp("site"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pool(fixture_site: Path) -> AsyncIterator[Pool]:
    """The hosts that tests share."""
    async with Pool(fixture_site) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="session")
async def legacy(pool: Pool) -> Wire:
    """A session of the newest legacy revision."""
    return await pool.get(LEGACY[-1])


@pytest_asyncio.fixture(loop_scope="session")
async def modern(pool: Pool) -> Wire:
    """A host without a session, whose requests carry their revision."""
    return await pool.get(MODERN[-1])


@pytest_asyncio.fixture(loop_scope="session", params=(LEGACY[-1], MODERN[-1]))
async def wire(pool: Pool, request: pytest.FixtureRequest) -> Wire:
    """The newest revision of either era."""
    return await pool.get(request.param)


@pytest_asyncio.fixture(loop_scope="session", params=LEGACY)
async def session(pool: Pool, request: pytest.FixtureRequest) -> Wire:
    """A session of each legacy revision."""
    return await pool.get(request.param)


@pytest_asyncio.fixture(loop_scope="session", params=REVISIONS)
async def every(pool: Pool, request: pytest.FixtureRequest) -> Wire:
    """Each revision there is."""
    return await pool.get(request.param)
