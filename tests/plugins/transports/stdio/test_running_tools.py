"""The tools that count as running while printed output is read."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pegboard import ToolResult
from pegboard.types import Call, Outcome
from pegboard_plugins.transports.stdio.running_tools import RunningTools


class Watcher:
    """Notes the running tools each time that output is read."""

    def __init__(self, running: RunningTools) -> None:
        self._running = running
        self.read: list[tuple[str, ...]] = []

    def collect(self) -> None:
        self.read.append(self._running.names())

    def settle(self) -> None:
        pass


async def succeed(call: Call) -> Outcome:
    return ToolResult()


@pytest.mark.parametrize(
    ("together", "read"),
    [
        (False, [("a",), ("a",), ("b",)]),
        (True, [("a",), ("b",)]),
    ],
)
async def test_output_is_read_for_each_tool_and_once_for_calls_of_one_tool_that_arrived_together(
    together: bool, read: list[tuple[str, ...]]
) -> None:
    connection: Any = SimpleNamespace(together=together)
    running = RunningTools()
    running.connection, running.watcher = connection, (watcher := Watcher(running))
    await asyncio.gather(*(running.on_call_tool(Call("tools/call", {"name": name}), succeed) for name in "aab"))
    await asyncio.sleep(0)
    assert watcher.read == read
    assert running.names() == ()
