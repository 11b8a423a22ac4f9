"""The toolkit of the soak: one tool for each feature of the host that a call can use."""

from __future__ import annotations

import asyncio
from threading import Barrier
from typing import Annotated, Final

from pydantic import BaseModel, Field

from pegboard import Context, Elicited, RetryableToolError, Toolkit

kit = Toolkit("soak")

THREADS: Final = 8
"""The number of threads for synchronous functions, `[host] threads`."""

_all_threads = Barrier(THREADS, timeout=60)


class Row(BaseModel):
    """One row of a structured result."""

    name: str
    value: float


@kit.tool
async def add(a: int, b: int) -> int:
    """Add two numbers on the event loop."""
    return a + b


@kit.tool
def add_thread(a: int, b: int) -> int:
    """Add two numbers in a thread."""
    return a + b


@kit.tool
def meet() -> None:
    """Wait until each thread of the host runs this function."""
    _all_threads.wait()


@kit.tool
async def rows(count: Annotated[int, Field(ge=0, le=10_000)]) -> list[Row]:
    """Return a list of objects."""
    return [Row(name=f"row {number}", value=number / 7) for number in range(count)]


@kit.tool
def text(size: Annotated[int, Field(ge=0, le=4_000_000)]) -> str:
    """Return a long text."""
    return "soak " * (size // 5)


@kit.tool
async def steps(context: Context, count: int = 5) -> str:
    """Report progress and write log messages while running."""
    for number in range(count):
        await context.progress.report(number + 1, count, f"step {number + 1}")
        await context.log.info("one step further")
        await asyncio.sleep(0.002)
    return "done"


@kit.tool
async def slow(seconds: Annotated[float, Field(ge=0, le=60)]) -> str:
    """Wait; clients cancel this call or disconnect."""
    await asyncio.sleep(seconds)
    return "awake"


class Answer(BaseModel):
    """The form that `ask` sends."""

    word: str


@kit.tool
async def ask(context: Context) -> str:
    """Ask the person for a word."""
    answer: Elicited[Answer] = await context.ui.elicit("Which word?", Answer)
    return answer.content.word if answer.content else answer.action


@kit.tool
def fail() -> str:
    """Fail with an unexpected error that carries a traceback."""
    local = ["a local value that the traceback holds"] * 100
    raise LookupError(f"nothing under {len(local)}")


@kit.tool
def retry() -> str:
    """Fail with an error that asks for another try."""
    raise RetryableToolError("Try again with another word.")


@kit.resource("soak://notes/{name}")
def note(name: str) -> str:
    """Read a note."""
    return f"The note {name}."


@kit.prompt
def greet(name: str) -> str:
    """Greet a person."""
    return f"Greet {name}."
