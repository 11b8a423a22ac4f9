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
    "flushed": lambda text: print(text, flush=True),
    "sys.stdout.buffer": lambda text: sys.stdout.buffer.write(text.encode() + b"\n"),
    "sys.__stdout__": lambda text: print(text, file=sys.__stdout__),
    "the former sys.stdout": lambda text: print(text, file=early),
    "descriptor": lambda text: os.write(1, text.encode() + b"\n"),
    "descriptor without a line break": lambda text: os.write(1, text.encode()),
    "C puts": lambda text: library.puts(text.encode()),
    "C printf": lambda text: library.printf(text.encode()),
    "child": lambda text: subprocess.run([sys.executable, "-I", "-c", f"print({text!r})"], check=True),
    "shell": lambda text: os.system(f"echo {text}"),
    "thread": in_thread,
}


@kit.lifespan
async def live(config: BaseModel | None) -> AsyncIterator[threading.Barrier]:
    yield threading.Barrier(2)


@kit.tool
def sync(how: str, text: str) -> str:
    """Print from a thread of the host."""
    WAYS[how](text)
    return text


@kit.tool(inline=True)
def inline(how: str, text: str) -> str:
    """Print from the event loop."""
    WAYS[how](text)
    return text


@kit.tool(name="async")
async def asynchronous(how: str, text: str) -> str:
    """Print from a task."""
    WAYS[how](text)
    return text


@kit.tool
async def megabyte(how: str) -> str:
    """Print a megabyte and hold up the event loop while doing so."""
    for _ in range(1000):
        WAYS[how]("x" * 1000)
    return "done"


@kit.tool(name="input")
def read_input() -> list[str]:
    """Read from standard input in every way there is."""
    child = subprocess.run(["cat"], check=True, stdout=subprocess.PIPE, text=True).stdout
    try:
        line = input("your name? ")
    except EOFError:
        line = "nobody"
    return [sys.stdin.read(), os.read(0, 100).decode(), child, line]


def together(context: Context, own: str) -> None:
    barrier: threading.Barrier = context.state
    barrier.wait()
    sys.stdout.write(f"begun by {own}, ")
    barrier.wait()
    sys.stdout.write(f"ended by {own}\n")
    barrier.wait()
    os.write(1, f"written by {own}\n".encode())
    barrier.wait()


@kit.tool
def one(context: Context) -> str:
    """Print piece by piece while `two` does."""
    together(context, "one")
    return "one"


@kit.tool
def two(context: Context) -> str:
    """Print piece by piece while `one` does."""
    together(context, "two")
    return "two"
