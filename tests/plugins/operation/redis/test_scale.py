"""A short run of `scale.py`; `make scale` disturbs the processes for longer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.plugins.operation.redis.scale import Plan, travel
from tests.support.redis_server import needs_redis

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have not all addresses of 127.0.0.0/8")
pytestmark = [needs_redis, only_linux, pytest.mark.timeout(180)]


async def test_no_session_is_lost_although_processes_and_the_server_are_disturbed(tmp_path: Path) -> None:
    plan = Plan(seconds=4, sessions=10, pause=0.2, kill_seconds=2, suspend_seconds=1, redis_seconds=1.5)
    counts, faults = await travel(plan, tmp_path)
    assert faults == []
    assert counts["effects"] > 0
