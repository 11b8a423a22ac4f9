"""Tools that run as tasks. The module is copied into a distribution."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pegboard import Context, ToolAnnotations, Toolkit
from pegboard.plugin import ProtocolError

kit = Toolkit("jobs")


async def effect(port: int, name: str) -> None:
    """Report an effect, and wait until it is counted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{name}\n".encode())
    await reader.readline()
    writer.close()


@kit.tool(task="optional")
async def once(port: int, name: str) -> str:
    """Have one effect."""
    await asyncio.sleep(0.05)
    await effect(port, name)
    await asyncio.sleep(0.05)
    return name


@kit.tool(task="optional", annotations=ToolAnnotations(idempotent=True))
async def again(port: int, name: str) -> str:
    """Have an effect that may be repeated."""
    await effect(port, name)
    await asyncio.sleep(0.1)
    return name


@kit.tool(task="optional")
async def ask(context: Context, name: str, port: int = 0) -> str:
    """Ask once, and have one effect after the answer if there is a port."""
    answer = await context.ui.elicit("Go on?", bool, name="go_on")
    if port:
        await effect(port, name)
    return f"{name} {answer.content}"


@kit.tool(task="optional")
async def hold(context: Context, path: str = "") -> None:
    """Report progress, and wait until the task is cancelled. Then make a file."""
    await context.progress.report(1, 2, "half is done")
    try:
        await asyncio.Event().wait()
    finally:
        if path:
            await asyncio.to_thread(Path(path).touch)


@kit.tool(task="required")
async def fail() -> str:
    """Fail."""
    raise ProtocolError(-32603, "broken")
