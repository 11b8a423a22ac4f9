"""The end of a tool's time, as clients and operators see it; and what blocks the event loop, as operators do."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.support.distributions import make_distribution
from tests.support.peer import WAIT
from tests.support.pool import CONFIG, Pool
from tests.support.schemas import LEGACY
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def said(wire: Wire, words: str) -> re.Match[str]:
    """What the process says on its standard error, once it does."""
    async with asyncio.timeout(WAIT):
        while (found := re.search(words, wire.stderr)) is None:  # noqa: ASYNC110 - it comes out of a pipe
            await asyncio.sleep(0)
    return found


@pytest.mark.parametrize("tool", ["wait", "stubborn", "block"])
async def test_a_tool_that_takes_too_long_is_answered_for_and_told(pool: Pool, tool: str) -> None:
    async with pool.new(f"{CONFIG}tool_timeout = 0.05\n") as wire:
        await wire.initialize(LEGACY[-1])
        for modern in (True, False):
            result = await wire.call(f"fixture_{tool}", label=str(modern), modern=modern)
            assert result["isError"] is True
            text = result["content"][0]["text"]
            assert text.startswith("It took longer than 0.05 seconds and was given up.\n\nAsk for less")
            detail = result["_meta"]["pegboard/error"]
            assert (detail["kind"], detail["canRetry"], detail["statusCode"]) == ("TOOL_RUNTIME_FATAL", False, 504)
        await said(wire, f"fixture_{tool} took longer than its limit of 0.05 seconds")
        if tool == "block":
            await wire.call("fixture_open_gate")
        async with asyncio.timeout(WAIT):  # until their functions were told
            while "True" not in (told := await cancelled(wire)) or "False" not in told:
                pass


async def cancelled(wire: Wire) -> str:
    """What was told that it was cancelled."""
    text: str = (await wire.call("fixture_cancelled"))["content"][0]["text"]
    return text


BLOCKS = '''
import logging, threading
from pegboard import Toolkit

kit = Toolkit("loop")
named = threading.Event()


class Named(logging.Handler):
    def emit(self, record):
        if "has blocked" in record.getMessage():
            named.set()


logging.getLogger("pegboard.runtime.watchdog").addHandler(Named())


@kit.tool
async def block() -> bool:
    """Block the event loop until the watchdog has seen it."""
    return named.wait(10)  # the line that blocks
'''


async def test_what_blocks_the_loop_is_in_the_log_with_tool_file_and_line(tmp_path: Path) -> None:
    points = {"pegboard.toolkits": {"loop": "loop_kit:kit"}}
    make_distribution(tmp_path, "loop-kit", "1.0", points, {"loop_kit.py": BLOCKS.lstrip()})
    async with Wire(config=f"{CONFIG}blocked_loop_seconds = 0.05\n", site=tmp_path) as wire:
        result = await wire.call("loop_block", modern=True)
        assert result["content"][0]["text"] == "true"
        place = await said(wire, r"loop_block has blocked the event loop for .*/loop_kit\.py:(\d+) in block\b")
        assert "the line that blocks" in BLOCKS.lstrip().splitlines()[int(place[1]) - 1]
        await said(wire, r"the event loop continues; loop_block had blocked it for \d+\.\d s")
