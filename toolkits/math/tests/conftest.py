"""The toolkit in a host of its own, and a client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from pegboard_testing import TestClient, connect
from toolkit_math import kit


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncIterator[TestClient]:
    async with connect(kit) as client:
        yield client
