"""The toolkit that prints in every way there is. It is copied into a distribution, and imports nothing of the tests."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from pydantic import BaseModel

from pegboard import Context, Toolkit

kit = Toolkit("printer")
early = sys.stdout
library = ctypes.CDLL(None)


def in_thread(text: str) -> None:
    printing = threading.Thread(target=print, args=(text,))
    printing.start()
    printing.join()


WAYS: dict[str, Callable[[str], Any]] = {
    "print": print,
    "without a line break": lambda text: print(text, end=""),
    "sys.stdout.buffer": lambda text: sys.stdout.buffer.write(text.encode() + b"\n"),
    "sys.__stdout__": lambda text: print(text, file=sys.__stdout__),
    "the former sys.stdout": lambda text: print(text, file=early),
    "descriptor": lambda text: os.write(1, text.encode() + b"\n"),
    "descriptor without a line break": lambda text: os.write(1, text.encode()),
    "C puts": lambda text: library.puts(text.encode()),
    "C printf": lambda text: library.printf(text.encode()),
    "child": lambda text: subprocess.run([sys.executable, "-I", "-c", f"print({text!r})"], check=True),
    "thread": in_thread,
}


@kit.lifespan
async def live(config: BaseModel | None) -> AsyncIterator[threading.Barrier]:
    yield threading.Barrier(2)


def sync(how: str, text: str, times: int = 1) -> str:
    """Print."""
    for _ in range(times):
        WAYS[how](text)
    return text


async def asynchronous(how: str, text: str) -> str:
    """Print from a task."""
    return sync(how, text)


kit.tool(sync)
kit.tool(name="inline", inline=True)(sync)
kit.tool(name="async")(asynchronous)


def together(context: Context, own: str) -> str:
    barrier: threading.Barrier = context.state
    barrier.wait()
    sys.stdout.write(f"begun by {own}, ")
    barrier.wait()
    sys.stdout.write(f"ended by {own}\n")
    barrier.wait()
    os.write(1, f"written by {own}\n".encode())
    barrier.wait()
    return own


@kit.tool
def one(context: Context) -> str:
    """Print piece by piece while `two` does."""
    return together(context, "one")


@kit.tool
def two(context: Context) -> str:
    """Print piece by piece while `one` does."""
    return together(context, "two")
