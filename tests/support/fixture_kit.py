"""The toolkit that most tests of the protocol call: each tool does one ordinary thing.

It is copied into a distribution that the process under test finds (`fixture_site`), so it imports nothing but
`pegboard`'s public names, pydantic and the standard library.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pegboard import Context, PluginConfig, RetryableToolError, ToolAnnotations, ToolExecutionError, Toolkit

CANARY = "canary-7f3a91"
"""Stands in every exception that no client may see the text of."""


class KitConfig(PluginConfig):
    """Settings of the kit."""

    greeting: str = "hello"


@dataclass
class State:
    """State that lives as long as the host."""

    released: asyncio.Event = field(default_factory=asyncio.Event)
    gate: threading.Event = field(default_factory=threading.Event)
    through: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    cancelled: list[str] = field(default_factory=list)


kit = Toolkit("fixture", config=KitConfig, title="Fixture", description="Tools for the wire tests.", version="1.2.3")


@kit.lifespan
async def live(config: KitConfig) -> AsyncIterator[State]:
    state = State()
    yield state
    state.gate.set()


# --- plain calls


@kit.tool(title="Echo", annotations=ToolAnnotations(title="Echo it", read_only=True, idempotent=True, open_world=False))
def echo(text: Annotated[str, "what to say back"]) -> str:
    """Say it back."""
    return text


@kit.tool
def add(a: int, b: Annotated[int, Field(ge=0)] = 1) -> int:
    """Add two numbers."""
    return a + b


@kit.tool
async def nothing() -> None:
    """Return nothing."""


@kit.tool
def greet(context: Context, name: str = "you") -> str:
    """Greet by the configured word."""
    return f"{context.config.greeting} {name}"


class Point(BaseModel):
    """A point with a name."""

    x: float
    y: float
    label: str | None = None


@kit.tool
def point(x: float, y: float) -> Point:
    """Give a point."""
    return Point(x=x, y=y)


@kit.tool
async def numbers(count: int) -> list[int]:
    """Give a list of numbers."""
    return list(range(count))


@kit.tool
def shape(points: list[Point], meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """Take nested values."""
    return {"count": len(points), "meta": meta}


@kit.tool
def length(text: str) -> int:
    """Measure a text."""
    return len(text)


@kit.tool
def about(context: Context) -> dict[str, Any]:
    """Return the properties of the call."""
    return {
        "tool": context.tool,
        "arguments": dict(context.arguments),
        "request_id": context.request_id,
        "client": context.client.name,
        "revision": context.client.revision,
    }


# --- failures


@kit.tool
def refuse(reason: str) -> str:
    """Fail on purpose."""
    raise ToolExecutionError(f"refused: {reason}", developer_message=f"{CANARY} for the log")


@kit.tool
async def try_again() -> str:
    """Ask for another attempt."""
    raise RetryableToolError("too early", additional_prompt_content="Try it later.", retry_after_ms=50)


@kit.tool
def crash() -> str:
    """Fail unexpectedly."""
    raise RuntimeError(f"{CANARY} at https://example.invalid/?key={CANARY}")


@kit.tool
async def crash_later() -> str:
    """Fail unexpectedly after a turn of the loop."""
    await asyncio.sleep(0)
    raise KeyError(CANARY)


@kit.tool
def large(size: int) -> str:
    """Give a long text."""
    return "x" * size


# --- time


@kit.tool
async def count(context: Context, to: int = 3, say: str | None = None) -> str:
    """Report progress at each step."""
    for step in range(1, to + 1):
        context.progress.report(step, total=to, message=say)
    return "counted"


@kit.tool
async def chatter(context: Context, steps: int, text: str) -> str:
    """Report progress with a turn of the loop after each step, and say on standard error when it is over."""
    for step in range(steps):
        context.progress.report(step, message=text)
        await asyncio.sleep(0)
    sys.stderr.write("chatter is over\n")
    return "chattered"


@kit.tool
def count_sync(context: Context, to: int = 3) -> str:
    """Report progress from a thread, by halves."""
    for step in range(1, to + 1):
        context.progress.report(step / 2, total=to)
    return "counted"


@kit.tool
async def stumble(context: Context) -> str:
    """Report progress that does not increase."""
    for step in (1, 1, 0.5, 2):
        context.progress.report(step)
    return "stumbled"


@kit.tool
async def wait(context: Context, label: str = "wait") -> str:
    """Wait until released or cancelled; progress says when it has begun."""
    state: State = context.state
    context.progress.report(1, message=label)
    try:
        await state.released.wait()
    except asyncio.CancelledError:
        state.cancelled.append(label)
        raise
    return "released"


@kit.tool
async def stubborn(context: Context, label: str = "stubborn") -> str:
    """Wait; when cancelled, report progress and return."""
    state: State = context.state
    context.progress.report(1)
    try:
        await state.released.wait()
    except asyncio.CancelledError:
        context.progress.report(2, message="still here")
        state.cancelled.append(label)
    return "returned all the same"


@kit.tool
async def release(context: Context) -> str:
    """Let all that waits go on."""
    state: State = context.state
    state.released.set()
    state.released = asyncio.Event()
    return "done"


@kit.tool
async def cancelled(context: Context) -> list[str]:
    """Say which waits were cancelled."""
    state: State = context.state
    return state.cancelled


@kit.tool
def block(context: Context, label: str = "block") -> str:
    """Block a thread until the gate opens; progress says when it has begun."""
    state: State = context.state
    context.progress.report(1)
    state.gate.wait()
    if context.cancelled:
        state.cancelled.append(label)
        context.progress.report(2)
        state.through.release()
    return "through"


@kit.tool
def open_gate(context: Context, cancelled: int = 0) -> str:
    """Open the gate for all that blocks, and wait for as many of them as were cancelled."""
    state: State = context.state
    gate, state.gate = state.gate, threading.Event()
    gate.set()
    for _ in range(cancelled):
        assert state.through.acquire(timeout=5)
    return "open"


# --- fixed content


@kit.resource("fixture://text", title="Text", description="A text.", mime_type="text/markdown")
def text() -> str:
    return "# A text\n"


@kit.resource("fixture://empty")
def empty() -> str:
    return ""


@kit.resource("fixture://broken")
def broken() -> str:
    raise RuntimeError(CANARY)


@kit.prompt(title="Review", description="Ask for a review.")
def review() -> str:
    return "Please review this."


@kit.prompt
def broken_prompt() -> str:
    """Fail."""
    raise RuntimeError(CANARY)
