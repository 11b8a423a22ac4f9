"""A thousand streams on which nothing happens (row B-13): they cost others nothing, and go with their clients."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.support.http import Line, Served
from tests.support.http_mcp import ask, call, mirrored, modern, stream

pytestmark = pytest.mark.asyncio(loop_scope="session")

STREAMS = 1000
CALLS = 1000


def work(served: Served) -> float:
    """Seconds of processor time that it has used (Linux)."""
    fields = Path(f"/proc/{served.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def of_calls(served: Served, line: Line) -> float:
    """Processor time for many calls in a row."""
    one = modern(call("fixture_nothing"))
    fields, body = mirrored(one), json.dumps(one).encode()
    before = work(served)
    for _ in range(CALLS):
        assert (await line.request("POST", "/mcp", fields, body)).status == 200
    return work(served) - before


async def test_a_thousand_idle_streams_cost_the_others_nothing(fixture_site: Path) -> None:
    async with Served(fixture_site) as served, await served.connect() as line:
        await of_calls(served, line)
        alone, memory, descriptors = await of_calls(served, line), served.memory(), served.descriptors()
        one = call("fixture_wait", token="p")
        streams = [await stream(served, one) for _ in range(STREAMS)]
        assert served.memory() - memory < STREAMS * 100 * 1024
        assert await of_calls(served, line) < 2 * alone
        for streaming in streams[: STREAMS // 2]:
            streaming.abort()
        await ask(served, call("fixture_release"))
        for streaming in streams[STREAMS // 2 :]:
            assert (await streaming.next())["result"]["isError"] is False
            streaming.abort()
        async with asyncio.timeout(10):
            while served.descriptors() > descriptors + 1:
                await line.request("GET", "/healthz")
        assert "Traceback" not in served.stderr
