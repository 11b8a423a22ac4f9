"""For how long results may be kept, and by whom (2026-07-28, server/utilities/caching)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.pool import CONFIG, Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEPT: list[tuple[str, dict[str, Any]]] = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "fixture://text"}),
    ("prompts/list", {}),
]
NOT_KEPT: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "fixture_echo", "arguments": {"text": "x"}}),
    ("tools/call", {"name": "fixture_refuse", "arguments": {"reason": "x"}}),
    ("prompts/get", {"name": "fixture_review"}),
]


@pytest.mark.requirement("LIST-05", "LIST-06", "LIST-07")
async def test_what_may_be_kept_says_so_and_nothing_else_does(modern: Wire) -> None:
    for method, params in KEPT:
        result = await modern.result(method, params)
        assert type(result["ttlMs"]) is int, method
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] in ("public", "private")
    for method, params in NOT_KEPT:
        assert not {"ttlMs", "cacheScope"} & (await modern.result(method, params)).keys()


async def test_nothing_of_it_is_told_to_sessions(session: Wire) -> None:
    for method, params in [*KEPT[1:], *NOT_KEPT]:
        assert not {"ttlMs", "cacheScope", "resultType"} & (await session.result(method, params)).keys()


@pytest.mark.requirement("LIST-06")
@pytest.mark.parametrize("key", ["list_ttl_ms", "tools_ttl_ms", "resources_ttl_ms", "prompts_ttl_ms"])
async def test_a_time_that_is_none_ends_the_start(pool: Pool, key: str) -> None:
    async with pool.new(f"{CONFIG}\n[plugins.mcp]\n{key} = -1\n") as wire:
        assert await wire.wait() == 3
        assert key in wire.stderr
