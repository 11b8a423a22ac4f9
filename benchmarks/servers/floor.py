"""The floor: a minimal server on an asyncio event loop, with pydantic's JSON and validation.

It does only what the measured requests need. It does not check messages, revisions or free space in its output, has no
errors and no cancellation, keeps its list as bytes, and runs an async tool at once. With `--tasks` each call runs in a
separate task. A server needs tasks if a slow call must not delay other calls.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine
from functools import partial
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json
from typing_extensions import TypedDict

INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "floor", "version": "0"},
}


class Numbers(TypedDict):
    """The arguments of `add`."""

    a: int
    b: int


class Lookup(TypedDict, total=False):
    """The arguments of the other tools."""

    name: str
    limit: int


class Count(TypedDict):
    """The arguments of `records`."""

    count: int


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def add_here(a: int, b: int) -> int:
    """Add two numbers, on the event loop or in a thread."""
    return a + b


def records(count: int) -> list[dict[str, Any]]:
    """Return `count` records."""
    return [{"id": number, "name": "a record", "tags": ["a", "b"], "price": 12.5} for number in range(count)]


def result_of(value: object) -> dict[str, Any]:
    """Return the result of a call: the value as text and as data."""
    content = [{"type": "text", "text": to_json(value).decode()}]
    return {"content": content, "structuredContent": {"result": value}, "isError": False}


class Floor:
    """Responds to messages. Responses to messages that arrive together are written together."""

    def __init__(self, *, tasks: bool, more_tools: int) -> None:
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._queued: list[bytes] = []
        self._running: set[asyncio.Task[None]] = set()
        self._rest = b""
        self.ended = self._loop.create_future()
        numbers = TypeAdapter(Numbers)
        self._validate = numbers.validator.validate_python
        self._list = to_json({"tools": described_tools(numbers, more_tools), "resultType": "complete"})

    def readable(self) -> None:
        """Read the available messages and respond to them."""
        chunk = os.read(0, 2**16)
        if not chunk:
            self.ended.set_result(None)
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._message(from_json(line))
        if self._tasks:
            self._loop.call_soon(self._flush)  # after the first step of every task
        else:
            self._flush()

    def _message(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method == "tools/call":
            call = self._call(message["id"], message["params"])
            if self._tasks or message["params"]["name"] == "add_thread":
                task = self._loop.create_task(call)
                self._running.add(task)
                task.add_done_callback(self._running.discard)
            else:
                _run_at_once(call)
        elif method == "tools/list":
            self._queued.append(b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (message["id"], self._list))
        elif method == "initialize":
            self._answer(message["id"], INITIALIZED)

    async def _call(self, number: int, params: dict[str, Any]) -> None:
        name = params["name"]
        if name == "records":
            self._answer(number, result_of(records(**params["arguments"])))
            return
        arguments = self._validate(params["arguments"])
        if name == "add":
            total = await add(**arguments)
        elif name == "add_inline":
            total = add_here(**arguments)
        else:
            total = await self._loop.run_in_executor(None, partial(add_here, **arguments))
            if not self._queued:
                self._loop.call_soon(self._flush)
        self._answer(number, result_of(total))

    def _answer(self, number: int, result: dict[str, Any]) -> None:
        self._queued.append(to_json({"jsonrpc": "2.0", "id": number, "result": result}) + b"\n")

    def _flush(self) -> None:
        if self._queued:
            os.write(1, b"".join(self._queued))
            self._queued.clear()


def _run_at_once(call: Coroutine[Any, Any, None]) -> None:
    try:
        call.send(None)
    except StopIteration:
        return
    raise RuntimeError("the tool must not wait")


def described_tools(numbers: TypeAdapter[Numbers], more: int) -> list[dict[str, Any]]:
    """Return the tools as a list shows them."""
    schema = numbers.json_schema()
    tools = [
        {"name": name, "description": "Add two numbers.", "inputSchema": schema}
        for name in ("add", "add_inline", "add_thread")
    ]
    tools.append(
        {"name": "records", "description": "Return so many records.", "inputSchema": TypeAdapter(Count).json_schema()}
    )
    for number in range(more):
        schema = TypeAdapter(Lookup).json_schema()
        description = f"Look a name up in table {number}."
        tools.append({"name": f"lookup_{number:04}", "description": description, "inputSchema": schema})
    return tools


async def main(*, tasks: bool) -> None:
    """Serve standard input and output until the input ends."""
    floor = Floor(tasks=tasks, more_tools=int(os.environ.get("BENCH_MORE_TOOLS", "0")))
    asyncio.get_running_loop().add_reader(0, floor.readable)
    await floor.ended


if __name__ == "__main__":
    asyncio.run(main(tasks="--tasks" in sys.argv))
