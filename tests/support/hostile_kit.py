"""A toolkit that misbehaves: it raises exceptions outside `Exception`, returns unserializable values, and prints.

Like `fixture_kit.py` it is copied into a distribution, and imports nothing of the tests.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from pegboard import Context, PromptMessage, RetryableToolError, ToolExecutionError, Toolkit
from pegboard.plugin import ProtocolError

CANARY = "canary-7f3a91"
"""Stands in every exception that no client may see the text of."""
SAID = "said out loud"
"""The output of the printing tools."""

kit = Toolkit("hostile")

# --- outbursts

OUTBURSTS: dict[str, BaseException] = {
    "SystemExit": SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt(CANARY),
    "StopIteration": StopIteration(CANARY),
    "StopAsyncIteration": StopAsyncIteration(CANARY),
    "GeneratorExit": GeneratorExit(CANARY),
    "CancelledError": asyncio.CancelledError(CANARY),
    "BaseExceptionGroup": BaseExceptionGroup(CANARY, [SystemExit(3)]),
}


@kit.tool
def burst(kind: str) -> str:
    """Raise an exception that no tool should, in a thread."""
    raise OUTBURSTS[kind]


@kit.tool
async def burst_async(kind: str) -> str:
    """Raise an exception that no tool should, on the event loop."""
    raise OUTBURSTS[kind]


kit.tool(name="burst_inline", inline=True)(burst)


# --- results that JSON cannot hold


@kit.tool
def surrogate() -> str:
    """Give half a character."""
    return "half \ud83d of it"


class Point(BaseModel):
    """A point."""

    x: float
    y: float


@kit.tool
def not_a_number() -> dict[str, float]:
    """Give numbers that are none."""
    return {"nan": float("nan"), "inf": float("inf")}


@kit.tool
def unserialisable() -> Any:
    """Give something that JSON has no form for."""
    return {"what": object()}


@kit.tool
def no_text() -> str:
    """Give nothing in place of a text."""
    return None  # type: ignore[return-value]  # that is the point of it


@kit.tool
def broken_promise() -> Point:
    """Give something else than promised."""
    return "no point"  # type: ignore[return-value]  # that is the point of it


# --- large results


FLOODS: dict[str, Callable[[int], Any]] = {"text": lambda size: "x" * size, "list": lambda size: [7] * (size // 8)}


@kit.tool
def flood(kind: str, size: int) -> Any:
    """Give a large result."""
    return FLOODS[kind](size)


# --- errors that are wrong themselves


class Speechless(Exception):
    """An exception without a string representation."""

    def __str__(self) -> str:
        raise RuntimeError(CANARY)


WRONG: Any = object()
ERRORS: dict[str, Exception] = {
    "speechless": Speechless(),
    "message": ToolExecutionError(WRONG),
    "advice": RetryableToolError("again", additional_prompt_content=WRONG),
    "delay": RetryableToolError("again", retry_after_ms=WRONG),
    "surrogate": ToolExecutionError("half \ud83d"),
    "code": ProtocolError(WRONG, "no code"),
    "data": ProtocolError(-32602, "no data", {"what": WRONG}),
}


@kit.tool
def misreport(kind: str) -> str:
    """Raise an error that is wrong itself."""
    raise ERRORS[kind]


ODD_VALUES: dict[str, Any] = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "text": "50%",
    "true": True,
    "none": None,
    "object": WRONG,
}


@kit.tool
def odd_report(context: Context, part: str, kind: str) -> str:
    """Report progress of which a part has a wrong type."""
    context.progress.report(**{"progress": 1, part: ODD_VALUES[kind]})
    return "reported"


@kit.prompt
def odd_text() -> list[PromptMessage]:
    """Return a message that is not a string."""
    return [PromptMessage(WRONG)]


@kit.prompt
def odd_messages() -> Any:
    """Give no messages at all."""
    return 5


# --- the streams


@kit.tool
def say(text: str = SAID) -> str:
    """Print."""
    print(text, flush=True)
    return "printed"


@kit.tool
def say_unflushed() -> str:
    """Print without flushing and without a line's end."""
    sys.stdout.write(SAID)
    return "printed"


@kit.tool
def write_descriptor() -> str:
    """Write to descriptor 1."""
    os.write(1, f"{SAID}\n".encode())
    return "written"


@kit.tool
def write_from_c() -> str:
    """Write with the C library."""
    library = ctypes.CDLL(None)
    library.puts(SAID.encode())
    library.fflush(None)
    return "written"


@kit.tool
def run_child() -> str:
    """Run a program that prints."""
    subprocess.run([sys.executable, "-I", "-c", f"print({SAID!r})"], check=True)
    return "ran"


@kit.tool
def read_input() -> str:
    """Read a line of standard input."""
    return repr(sys.stdin.readline())


@kit.tool
def child_reads_input() -> str:
    """Run a program that reads standard input."""
    code = "import sys; print(repr(sys.stdin.read()))"
    return subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True).stdout.strip()
