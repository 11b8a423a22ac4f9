"""Each class is a plugin with one fault."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any

from pegboard.plugin import Plugin, PromptDefinition, ToolDefinition, hookimpl


def leftover() -> str:
    """Would be served by a valid plugin."""
    return "served"


class Sound(Plugin):
    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


class Unmarked(Plugin):
    def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


class Asynchronous(Plugin):
    @hookimpl
    async def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


class Wrapping(Plugin):
    @hookimpl(wrapper=True)
    def register_tools(self) -> Iterator[None]:
        return (yield)


class Crashing(Sound):
    @hookimpl
    def register_transports(self) -> Iterable[Any]:
        raise RuntimeError("the cable is missing")


class Quitting(Plugin):
    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        sys.exit("I quit")


class Lifeless(Sound):
    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        raise ConnectionError("the database is away")
        yield


class Unbuildable(Sound):
    def __init__(self, config: object) -> None:
        raise FileNotFoundError("no such model file")
