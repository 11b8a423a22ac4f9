"""A server for wrong calls: `python shop.py MODULE:CLASS [OPTION...]`, with the server class of any framework."""

from __future__ import annotations

import importlib
import sys
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field


class Passenger(BaseModel):
    """A passenger."""

    name: str
    born: date | None = None


class Extras(BaseModel):
    """The extras of a trip."""

    meal: Literal["vegan", "none"] = "none"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def search(
    query: str,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    tags: list[str] = [],  # noqa: B006 - a default as authors write it
    order: Literal["newest", "oldest", "relevance"] = "newest",
    since: date | None = None,
) -> str:
    """Search articles."""
    return f"{query} {limit} {tags} {order} {since}"


def book(passengers: list[Passenger], extras: Extras = Extras()) -> str:  # noqa: B008 - as authors write it
    """Book a trip."""
    return f"{', '.join(passenger.name for passenger in passengers)}: {extras.meal}"


def sign_in(user: str, password: str) -> str:
    """Sign in."""
    return f"hello {user}"


if __name__ == "__main__":
    module, _, name = sys.argv[1].partition(":")
    server: Any = getattr(importlib.import_module(module), name)("shop", **dict.fromkeys(sys.argv[2:], False))
    for function in (add, search, book, sign_in):
        server.tool()(function)
    server.run()
