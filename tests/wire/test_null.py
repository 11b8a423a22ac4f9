"""A result that is null is not a result that is absent (2026-07-28, server/tools, output schema)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.distributions import make_distribution
from tests.support.pool import CONFIG
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

KIT = '''
from pegboard import Toolkit

kit = Toolkit("perhaps")


@kit.tool
def number(there: bool) -> int | None:
    """Give a number, perhaps."""
    return 1 if there else None
'''


@pytest.mark.requirement("TOOL-26")
@pytest.mark.parametrize("revision", [LEGACY[-1], MODERN[-1]])
async def test_null_is_structured_content_where_it_is_the_value(tmp_path: Path, revision: str) -> None:
    make_distribution(tmp_path, "perhaps", "1", {"pegboard.toolkits": {"perhaps": "perhaps:kit"}}, {"perhaps.py": KIT})
    async with Wire(config=CONFIG, site=tmp_path) as wire:
        if revision in LEGACY:
            await wire.initialize(revision)
        else:
            wire.modern = True
        await wire.result("tools/list")  # from here on the recorder holds results against the schema
        for there, value in ((True, 1), (False, None)):
            result = await wire.call("perhaps_number", there=there)
            assert ("structuredContent" in result) == wire.modern
            assert result.get("structuredContent") == (value if wire.modern else None)
            assert result["content"] == [{"type": "text", "text": "null" if value is None else "1"}]
