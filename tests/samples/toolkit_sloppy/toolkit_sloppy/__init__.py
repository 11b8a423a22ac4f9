"""One tool is right; every other one is wrong in its own way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from pegboard import Toolkit

kit = Toolkit("sloppy")


@kit.tool
def fine(number: int = 1) -> int:
    """Give a number back."""
    return number


@kit.tool
def undocumented() -> str:
    return "?"


@kit.tool
def many(*numbers: int) -> int:
    """Add numbers."""
    return sum(numbers)


@kit.tool
def anything(**options: str) -> str:
    """Take options."""
    return str(options)


@kit.tool
def unannotated(value) -> str:  # noqa: ANN001 - this is its fault
    """Take a value."""
    return str(value)


@kit.tool
def unresolvable(value: Nowhere) -> str:  # noqa: F821 - this is its fault
    """Take a value of a type that is not there."""
    return str(value)


@kit.tool(name="very_" * 13 + "long")
def long_name() -> str:
    """Have a name that no client takes."""
    return "?"


@kit.tool
def huge(value: Annotated[str, "x" * 300_000]) -> str:
    """Have a schema that no client wants."""
    return value


@kit.tool
def stream() -> Iterator[int]:
    """Give numbers one by one."""
    yield 1


@kit.tool
async def async_stream() -> AsyncIterator[int]:
    """Give numbers one by one."""
    yield 1


@kit.resource("no scheme")
def nowhere() -> str:
    """Have an address that is none."""
    return "?"


@kit.prompt
def questions(*topics: str) -> str:
    """Take any number of values, which no list of arguments can name."""
    return ", ".join(topics)
