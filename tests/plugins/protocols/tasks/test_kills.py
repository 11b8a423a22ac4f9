"""Servers of tasks that are killed; `make kills` kills more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.protocols.tasks.kills import run

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(120)]


async def test_each_task_ends_once_although_servers_are_killed(tmp_path: Path) -> None:
    endings = await run(kills=3, tasks=24, folder=tmp_path)
    assert endings.total() > 0
