"""Results that are too large, over standard streams (row F-9)."""

from __future__ import annotations

import pytest

from tests.support.pool import CONFIG, Pool

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
async def test_beyond_the_limit_there_is_an_answer_that_helps(pool: Pool, modern: bool) -> None:
    async with pool.new(CONFIG + "max_result_bytes = 5000\n") as wire:
        if not modern:
            await wire.initialize()
        for kind in ("text", "bytes", "list", "range", "escapes", "texts"):
            result = await wire.call("hostile_flood", modern=modern, kind=kind, size=50_000)
            assert result["isError"] is True
            assert "more than 5,000 bytes" in result["content"][0]["text"]
            assert "Ask for less" in result["content"][0]["text"]
        result = await wire.call("fixture_large", modern=modern, size=4998)
        assert result["isError"] is False
        assert "the result of hostile_flood is too large: 50000 bytes or more" in wire.stderr


async def test_without_a_limit_everything_is_sent(pool: Pool) -> None:
    async with pool.new(CONFIG + "max_result_bytes = 0\n") as wire:
        await wire.initialize()
        assert len((await wire.call("fixture_large", size=11_000_000))["content"][0]["text"]) == 11_000_000
