"""Starts a server and explores it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pegboard.errors import MCPError
from pegboard_client import Endpoint, Program
from tools.comparison.exploring import explore, exploring_client
from tools.comparison.processes import listening, running

SECONDS = 90
REVISION = "2025-11-25"


class NoServer(Exception):
    """The server did not start, or died."""


async def probe(
    command: Sequence[str | Path], folder: Path, variables: Mapping[str, str], seconds: float = SECONDS
) -> dict[str, Any]:
    """Start a server and return its lists, and the result of each tool, resource and prompt.

    Args:
        command: the command of the server.
        folder: its working directory.
        variables: its environment.
        seconds: the time limit of the whole exploration.

    Raises:
        NoServer: the server did not start or died. The message is the end of its standard error.
    """
    lines: list[str] = []
    program, *arguments = map(str, command)
    try:
        return await _explored(Program(program, arguments, variables, folder, stderr=lines.append), seconds)
    except (MCPError, TimeoutError, ValueError) as error:
        raise NoServer(next((line for line in reversed(lines) if line.strip()), repr(error))) from None


async def probe_http(command: Sequence[str | Path], port: int, log: Path) -> dict[str, Any]:
    """Do the same with a server that listens at a port.

    Raises:
        NoServer: the server did not start or died. The message names its log.
    """
    server = Endpoint(f"http://127.0.0.1:{port}/mcp", {"X-Shop": "north"})
    try:
        async with running(tuple(map(str, command)), log, {}, log.parent):
            await listening(port, log)
            return await _explored(server, SECONDS)
    except (MCPError, TimeoutError, SystemExit) as error:
        raise NoServer(f"{error}: read {log}") from None


async def _explored(server: Program | Endpoint, seconds: float) -> dict[str, Any]:
    async with asyncio.timeout(seconds), exploring_client(server, REVISION, seconds) as client:
        described = {"instructions": client.server.instructions, "name": client.server.name}
        return described | await explore(client)
