"""The tools that every contender serves, as a toolkit: `add` as three kinds of functions, and additional tools."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pegboard import Toolkit

kit = Toolkit("bench")


@kit.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@kit.tool(inline=True)
def add_inline(a: int, b: int) -> int:
    """Add two numbers, on the event loop."""
    return a + b


@kit.tool
def add_thread(a: int, b: int) -> int:
    """Add two numbers, in a thread."""
    return a + b


@kit.tool
async def records(count: int) -> list[dict[str, Any]]:
    """Return `count` records."""
    return [{"id": number, "name": "a record", "tags": ["a", "b"], "price": 12.5} for number in range(count)]


def _lookup(number: int) -> Callable[[str, int], str]:
    def lookup(name: str, limit: int = 10) -> str:
        return f"{number} {name} {limit}"

    return lookup


for _number in range(int(os.environ.get("BENCH_MORE_TOOLS", "0"))):
    kit.tool(name=f"lookup_{_number:04}", description=f"Look a name up in table {_number}.")(_lookup(_number))
