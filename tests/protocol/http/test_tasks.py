"""Tools that are called over HTTP run in a task, so that asyncio's time limits work in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Line, Served, http_config
from tests.support.http_mcp import Session, call, exchange, mirrored, modern, opened
from tests.support.wire import PEGBOARD

TOOLS = '''
import asyncio
from pegboard import tool

@tool(inline=True)
def inline() -> bool:
    """Return True in a task."""
    return asyncio.current_task() is not None

@tool
async def waiting() -> bool:
    """Return True in a task."""
    return asyncio.current_task() is not None

async def later() -> bool:
    async with asyncio.timeout(60):
        await asyncio.sleep(0)
        return asyncio.current_task() is not None

@tool(inline=True)
def wrapper() -> bool:
    """Return True in a task."""
    return later()
'''


ALONE = {"PYTHONUTF8": "1"}
"""A process with an option of the interpreter is not forked from one that has imported files."""


@pytest.fixture
def served(tmp_path: Path) -> Served:
    (tmp_path / "tasks.py").write_text(TOOLS)
    config = http_config("port = 0\nidle_seconds = 2")
    return Served(tmp_path, config, command=(PEGBOARD, "serve", str(tmp_path / "tasks.py")), env=ALONE)


async def result(line: Line, tool: str, session: Session | None) -> Any:
    request = call(tool) if session else modern(call(tool))
    fields = session.fields() if session else mirrored(request)
    return (await exchange(line, request, fields)).result["content"][0]["text"] == "true"


@pytest.mark.parametrize("era", ["session", "2026-07-28"])
async def test_each_tool_runs_in_a_task(served: Served, era: str) -> None:
    async with served:
        session = await opened(served) if era == "session" else None
        async with await served.connect() as line:
            for tool in ("inline", "waiting", "wrapper"):
                assert await result(line, f"tasks_{tool}", session)
            assert await line.rest() == b""  # the connection is closed when it is idle for `idle_seconds`
