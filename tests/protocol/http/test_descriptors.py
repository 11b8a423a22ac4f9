"""A server without free file descriptors."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path

import pytest

from tests.support.http import Line, Served
from tests.support.peer import WAIT

CONNECTIONS = 60


async def status(line: Line) -> int | None:
    """Return the status of the response; None if the server closes the connection without a response."""
    try:
        return (await line.answer()).status
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None


@pytest.mark.requirement("SEC-03")
async def test_connections_are_refused_while_no_descriptor_is_free(fixture_site: Path) -> None:
    async with Served(fixture_site) as served:
        limit = served.descriptors() + CONNECTIONS // 2
        resource.prlimit(served.pid, resource.RLIMIT_NOFILE, (limit, limit))
        lines = [await served.connect() for _ in range(CONNECTIONS)]
        for line in lines:
            await line.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        statuses = [await status(line) for line in lines]
        assert set(statuses) == {200, None}
        assert statuses.count(None) >= CONNECTIONS // 2
        for line in lines:
            line.abort()
        async with asyncio.timeout(WAIT):
            while await status(await requested_line(served)) != 200:
                pass
    assert "no file descriptor is free" in served.stderr
    assert len(served.stderr.splitlines()) < CONNECTIONS


async def requested_line(served: Served) -> Line:
    """Send a request on a new connection."""
    line = await served.connect()
    await line.ask("GET", "/healthz")
    return line
