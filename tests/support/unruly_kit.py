"""The toolkit whose tools exit, print without end, and block the event loop. It is copied into a distribution."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from pegboard import Context, Toolkit

CLOSED = "the lifespan is closed"

kit = Toolkit("unruly")


@kit.lifespan
async def live(config: Any) -> AsyncIterator[None]:
    yield
    os.write(2, f"{CLOSED}\n".encode())


@kit.tool
def print_on(context: Context, how: str = "print") -> str:
    """Print without end, once the caller has been told."""
    folder = tempfile.TemporaryDirectory(prefix="unruly-")
    context.progress.report(1, message=folder.name)
    if how == "child":
        subprocess.Popen(["sh", "-c", "while echo printed; do :; done"])
        threading.Event().wait()
    while True:
        print("printed")


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
