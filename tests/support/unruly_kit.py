"""The toolkit whose tools exit, and block the event loop. It is copied into a distribution."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import NoReturn

from pegboard import Toolkit

kit = Toolkit("unruly")


async def leave() -> NoReturn:
    await asyncio.sleep(0)
    sys.exit(3)


async def group() -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(leave())


async def call_soon() -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 3)
    await asyncio.sleep(0.1)


EXITS = {
    "gather": lambda: asyncio.gather(leave(), leave()),
    "create_task": lambda: asyncio.create_task(leave()),
    "TaskGroup": group,
    "unawaited": lambda: asyncio.wait([asyncio.create_task(leave())]),
    "call_soon": call_soon,
}
"""Ways to exit in a task of a tool. In the first three the call awaits the task and fails."""


@kit.tool
async def exits(how: str) -> str:
    """Exit somewhere else than in the tool's own task."""
    await EXITS[how]()
    return "done"


@kit.tool
async def block(how: str) -> str:
    """Block the event loop."""
    while how == "busy":
        pass
    time.sleep(60)  # noqa: ASYNC251 - that is the point
    return "done"


@kit.tool
async def nap(seconds: float = 0.005, times: int = 1) -> str:
    """Wait without blocking."""
    await asyncio.sleep(seconds)
    return "rested" * times
