"""The toolkit of the run in `test_scale.py`. Its effects are lines of one file, which all processes append to."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from pegboard import Context, Toolkit

kit = Toolkit("scale")
VERSION = 0
"""A reload changes it."""
EFFECTS = Path(__file__).with_name("effects")
QUESTION_SECONDS = 120


def record(effect: str) -> None:
    """Append a line at once."""
    file = os.open(EFFECTS, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(file, f"{effect}\n".encode())
    os.close(file)


@kit.tool
async def effect(name: str) -> str:
    """Have one effect."""
    record(name)
    return name


@kit.tool
async def put(context: Context, key: str, value: str) -> str:
    """Keep a value in the session, and return the former one."""
    former = str(context.session.get(key, "nothing"))
    context.session.set(key, value)
    return former


@kit.tool
async def take(context: Context, key: str) -> str:
    """Return a value of the session."""
    return str(context.session.get(key, "nothing"))


@kit.tool
async def ask(context: Context, name: str) -> str:
    """Have one effect after an answer."""
    answer = await context.ui.elicit("Which word?", str, name="word", timeout=QUESTION_SECONDS)
    record(name)
    return f"{name} {answer.content}"


@kit.tool
async def steps(context: Context, name: str, count: int = 5) -> str:
    """Report progress, and have one effect."""
    for number in range(count):
        context.progress.report(number + 1, total=count)
        await asyncio.sleep(0.1)
    record(name)
    return name


@kit.tool
async def wait(context: Context, name: str) -> str:
    """Wait until the call is cancelled."""
    try:
        context.progress.report(1)
        await asyncio.Event().wait()
    finally:
        record(name)
    return name


@kit.tool
async def change(context: Context, uri: str) -> str:
    """Notify of the change of a resource."""
    context.notifications.resources.updated(uri)
    return uri


@kit.resource("scale://notes/{name}")
async def note(name: str) -> str:
    """Return a note."""
    return name
