"""The toolkit whose tools exit, print without end, and block the event loop. It is copied into a distribution."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

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
