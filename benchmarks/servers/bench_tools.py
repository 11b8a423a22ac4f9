"""The tools that the servers of other frameworks serve, as functions. Arcade's needs descriptions.

This module does not postpone annotations, because Arcade's server does not resolve them.
"""

import os
from collections.abc import Callable, Iterator
from typing import Annotated, Any

Number = Annotated[int, "a number"]


async def add(a: Number, b: Number) -> int:
    """Add two numbers."""
    return a + b


def add_thread(a: Number, b: Number) -> int:
    """Add two numbers, in a thread."""
    return a + b


async def records(count: Number) -> list[dict[str, Any]]:
    """Return `count` records."""
    return [{"id": number, "name": "a record", "tags": ["a", "b"], "price": 12.5} for number in range(count)]


FUNCTIONS = (add, add_thread, records)


def lookups() -> Iterator[tuple[str, str, Callable[[str, int], str]]]:
    """Yield the name, description and function of the additional tools, whose number is `BENCH_MORE_TOOLS`."""
    for number in range(int(os.environ.get("BENCH_MORE_TOOLS", "0"))):
        yield f"lookup_{number:04}", f"Look a name up in table {number}.", _lookup(number)


def _lookup(number: int) -> Callable[[str, int], str]:
    def lookup(name: Annotated[str, "the name"], limit: Number = 10) -> str:
        return f"{number} {name} {limit}"

    return lookup


def port() -> int:
    """Return the port to serve HTTP at."""
    return int(os.environ.get("BENCH_PORT", "0"))
