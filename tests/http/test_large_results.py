"""Results that are too large, or have no end (row F-9): an answer for the model, a line for the operator, no memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call

pytestmark = pytest.mark.asyncio(loop_scope="session")

MEGABYTE = 2**20
LIMIT = 5000
ONE_KIND_OF_EACH = ["text", "bytes", "list", "range", "escapes", "texts"]


def text_of(result: dict[str, Any]) -> str:
    text: str = result["content"][0]["text"]
    return text


@pytest.mark.requirement("TOOL-11")
async def test_beyond_the_limit_the_model_learns_what_to_do_and_the_operator_what_happened(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config(host=f"max_result_bytes = {LIMIT}")) as served:
        session = Session(served)
        await session.open()
        for kind in ONE_KIND_OF_EACH:
            one = call("hostile_flood", {"kind": kind, "size": 50_000})
            for result in ((await ask(served, one)).result, (await session.post(one)).result):
                assert result["isError"] is True
                assert "more than 5,000 bytes" in text_of(result)
                assert "Ask for less" in text_of(result)
                assert "structuredContent" not in result
        declared = (await ask(served, call("hostile_flood_numbers", {"size": 50_000}))).result
        assert "Ask for less" in text_of(declared)
        said = await served.said(r"the result of hostile_flood is too large: (\d+) bytes or more; .*_bytes\) is (\d+)")
        assert (int(said[1]), int(said[2])) == (50_000, LIMIT)
        assert "Traceback" not in served.stderr


async def test_up_to_the_limit_it_is_sent(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config(host=f"max_result_bytes = {LIMIT}")) as served:
        for size, is_error in ((LIMIT - 2, False), (LIMIT - 1, True)):  # two quotation marks
            result = (await ask(served, call("fixture_large", {"size": size}))).result
            assert result["isError"] is is_error


@pytest.mark.parametrize("kind", ["text", "bytes", "list"])
async def test_what_is_far_too_large_is_never_copied(fixture_site: Path, kind: str) -> None:
    """The tool's own result takes so much; a copy of it in any form would take as much again."""
    size = 256 * MEGABYTE
    async with Served(fixture_site) as served:
        await ask(served, call("fixture_echo", {"text": "x"}))
        before = served.peak_memory()
        result = (await ask(served, call("hostile_flood", {"kind": kind, "size": size}))).result
        assert "more than 10,485,760 bytes" in text_of(result)
        assert served.peak_memory() - before < size * 1.2


@pytest.mark.parametrize("kind", ["itself", "dict", "list", "tuple", "model"])
async def test_an_iterator_without_end_is_refused(served: Served, kind: str) -> None:
    result = (await ask(served, call("hostile_endless", {"kind": kind}))).result
    assert result["isError"] is True
    assert "iterator" in text_of(result)


async def test_an_iterator_without_end_where_a_list_is_declared(served: Served) -> None:
    assert "iterator" in text_of((await ask(served, call("hostile_endless_numbers"))).result)
