"""Every call that was read is answered, or counted as dropped, whatever the turn of the event loop it ends in."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from pegboard import Context, Host, Toolkit
from pegboard.types import LOCAL
from pegboard_plugins.transports.stdio import message_reader
from pegboard_plugins.transports.stdio.running_tools import RunningTools
from pegboard_plugins.transports.stdio.stdio_connection import StdioConnection
from tests.support.http_mcp import message, modern, opening

INITIALIZE = opening(id=1)

kit = Toolkit("ends")


async def pause(turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


@kit.tool
async def waits(turns: int) -> str:
    """Wait for turns of the event loop."""
    await pause(turns)
    return "done"


@kit.tool
async def logs(turns: int, context: Context) -> str:
    """Log a message in the turn of the answer."""
    await pause(turns)
    await context.log.error("almost done")
    return "done"


@kit.tool
async def reports(turns: int, context: Context) -> str:
    """Report progress in the turn of the answer."""
    await pause(turns)
    await context.progress.report(1, 1)
    return "done"


@kit.tool
async def fails(turns: int) -> str:
    """Fail after turns of the event loop."""
    await pause(turns)
    raise ValueError


@kit.tool
def threaded(turns: int) -> str:
    """Run in a thread."""
    return "done"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host() -> AsyncIterator[Host]:
    async with Host({"host": {"autoload": False}}, toolkits={"ends": kit}) as host:
        yield host


def piped(data: bytes, _folder: Path) -> int:
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return reader


def filed(data: bytes, folder: Path) -> int:
    path = folder / "in"
    path.write_bytes(data)
    return os.open(path, os.O_RDONLY)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("opened", "end", "can_poll"),
    [(piped, b"\n", True), (piped, b"\n", False), (filed, b"", True)],
    ids=["pipe", "thread", "file-without-last-line-break"],
)
@pytest.mark.parametrize("era", ["session", "stateless"])
@pytest.mark.parametrize("tool", ["waits", "logs", "reports", "fails", "threaded"])
async def test_no_call_is_lost_silently(
    host: Host,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    era: str,
    opened: Callable[[bytes, Path], int],
    end: bytes,
    can_poll: bool,
) -> None:
    monkeypatch.setattr(message_reader, "CAN_POLL", can_poll)
    lost = []
    for turns in range(21):
        params = {"name": f"ends_{tool}", "arguments": {"turns": turns}, "_meta": {"progressToken": 1}}
        call = message("tools/call", params, id=2)
        sent = [INITIALIZE, call] if era == "session" else [modern(call)]
        source = opened(b"\n".join(json.dumps(request).encode() for request in sent) + end, tmp_path)
        target, output = os.pipe()
        connection = StdioConnection(output, RunningTools())
        messages = message_reader.open_reader(source, connection, 100_000)
        dropped = await host.serve(connection, messages, caller=LOCAL) + messages.left
        messages.close()
        os.close(output)
        with os.fdopen(target, "rb") as read:
            answered = any(json.loads(line).get("id") == 2 for line in read)
        os.close(source)
        if answered == bool(dropped or connection.unread):
            lost.append((turns, answered, dropped, connection.unread))
    assert lost == []
