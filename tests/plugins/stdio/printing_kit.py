"""A toolkit that prints in many ways. It is copied into a distribution, and imports nothing of the tests."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from pegboard import Toolkit

kit = Toolkit("printer")
library = ctypes.CDLL(None)
barrier = threading.Barrier(2)


def in_thread(text: str) -> None:
    printing = threading.Thread(target=print, args=(text,))
    printing.start()
    printing.join()


WAYS: dict[str, Callable[[str], Any]] = {
    "print": print,
    "without a line break": lambda text: print(text, end=""),
    "sys.__stdout__": lambda text: print(text, file=sys.__stdout__),
    "descriptor": lambda text: os.write(1, text.encode() + b"\n"),
    "descriptor without a line break": lambda text: os.write(1, text.encode()),
    "C printf": lambda text: library.printf(text.encode()),
    "child": lambda text: subprocess.run([sys.executable, "-I", "-c", f"print({text!r})"], check=True),
    "thread": in_thread,
}


@kit.tool
def sync(how: str, text: str) -> str:
    """Print."""
    WAYS[how](text)
    return text


@kit.tool(name="async")
async def asynchronous(how: str, text: str) -> str:
    """Print from a task."""
    return sync(how, text)


def together(own: str) -> None:
    """Print piece by piece while another tool does."""
    for piece in (f"begun by {own}, ", f"ended by {own}\n"):
        barrier.wait()
        sys.stdout.write(piece)
    barrier.wait()
    os.write(1, f"written by {own}\n".encode())
    barrier.wait()


kit.tool(name="inline", inline=True)(sync)
for name in ("one", "two"):
    kit.tool(name=name)(together)
