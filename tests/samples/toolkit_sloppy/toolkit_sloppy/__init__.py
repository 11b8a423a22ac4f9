"""One tool is right; each other item is wrong in its own way."""

from __future__ import annotations

from pegboard import Toolkit

kit = Toolkit("sloppy")


@kit.tool
def fine(number: int = 1) -> int:
    """Give a number back."""
    return number


@kit.tool
def undocumented() -> str:
    return "?"


@kit.resource("no scheme")
def nowhere() -> str:
    """Have an address that is none."""
    return "?"


@kit.prompt
def questions(*topics: str) -> str:
    """Take any number of values, which no list of arguments can name."""
    return ", ".join(topics)
