"""The tools of the official scenarios of tasks."""

from __future__ import annotations

import asyncio
from dataclasses import make_dataclass
from typing import Any

from pegboard import Context, ToolExecutionError, Toolkit
from pegboard.plugin import ProtocolError
from pegboard.types import Elicit

kit = Toolkit("tasks", prefix=False)

Person: Any = make_dataclass("Person", [("name", str)])
Confirmation: Any = make_dataclass("Confirmation", [("confirm", bool)])


@kit.tool
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}!"


@kit.tool(task="optional")
async def slow_compute(seconds: float, label: str) -> str:
    """Compute for some seconds."""
    await asyncio.sleep(seconds)
    return f"{label} is computed"


@kit.tool(task="required")
async def failing_job() -> str:
    """Fail after a while."""
    await asyncio.sleep(0.2)
    raise ToolExecutionError("The job failed.")


@kit.tool(task="optional")
async def protocol_error_job() -> str:
    """End with an error of the protocol."""
    raise ProtocolError(-32603, "The job broke.")


@kit.tool(task="optional")
async def confirm_delete(context: Context, filename: str) -> str:
    """Delete a file after a confirmation."""
    answer = await context.ui.elicit(f"Delete {filename}?", Confirmation, name="confirm")
    return f"{filename}: {answer.action}"


@kit.tool(task="optional")
async def multi_input(context: Context) -> str:
    """Ask two questions at once."""
    answers = await context.ask(first=Elicit("First?", Confirmation), second=Elicit("Second?", Confirmation))
    return ", ".join(f"{name} {answer.action}" for name, answer in answers.items())


@kit.tool(task="required", task_asks=["user_name"])
async def test_tool_with_task(context: Context) -> str:
    """Ask for a name, and greet in a task."""
    answer = await context.ui.elicit("What is your name?", Person, name="user_name")
    return f"Hello, {answer.content.name if answer.content else 'stranger'}!"
