"""A token of the worker vouches for a service: its calls are limited for each user that they name, else for nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugins.worker.conftest import Engine, serve, token
from tests.support.http import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

RARELY = "[plugins.rate_limit]\nlocal = true\ncalls_per_minute = 0.01\nburst = 2\n"


async def outcomes(served: Served, bearer: str | None, times: int, user: str | None = None) -> list[bool]:
    engine = Engine(served, bearer)
    context: dict[str, Any] = {} if user is None else {"context": {"user_id": user}}
    return [(await engine.invoke("Add", {"a": 1, "b": 2}, **context))["success"] for _ in range(times)]


async def test_calls_of_the_worker_are_limited_for_each_user_they_name(site: Path) -> None:
    async with serve(site, more=RARELY) as served:
        bearer = f"Bearer {token()}"
        assert await outcomes(served, bearer, 5) == [True] * 5
        assert await outcomes(served, bearer, 3, "ann") == [True, True, False]
        assert await outcomes(served, bearer, 1, "ben") == [True]


async def test_a_service_may_have_a_limit(site: Path) -> None:
    limit = "services = { calls_per_minute = 0.01, burst = 3 }\n"
    async with serve(site, more=RARELY + limit) as served:
        bearer = f"Bearer {token()}"
        assert await outcomes(served, bearer, 4) == [True, True, True, False]
        assert await outcomes(served, bearer, 3, "ann") == [True, True, False]


async def test_without_tokens_no_caller_is_a_service(site: Path) -> None:
    async with serve(site, "auth_disabled = true\nauth_disabled_anywhere = true", more=RARELY) as served:
        assert await outcomes(served, None, 3) == [True, True, False]
