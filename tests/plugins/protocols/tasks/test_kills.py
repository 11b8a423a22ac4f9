"""Servers of tasks that are killed; `make kills` kills more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.protocols.tasks.kills import run
from tests.support.redis_server import needs_redis

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(120)]


@pytest.mark.parametrize(
    "store", ["memory", "sqlite", pytest.param("redis", marks=[needs_redis, pytest.mark.needs("redis")])]
)
async def test_each_task_ends_once_although_servers_are_killed(store: str, tmp_path: Path) -> None:
    endings = await run(kills=3, tasks=24, folder=tmp_path, store=store)
    assert endings.total() > 0
