"""Each class is a plugin with one fault."""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any

from pegboard.plugin import Plugin, PromptDefinition, ToolDefinition, hookimpl


def leftover() -> str:
    """Would be served, were its plugin in order."""
    return "served"


class Unmarked(Plugin):
    """A function with a hook's name, without the marker."""

    def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


class Asynchronous(Plugin):
    """An async hook."""

    @hookimpl
    async def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator behind which an async function looks like a plain one."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


class HiddenAsync(Plugin):
    """An async hook behind a decorator."""

    @hookimpl
    @traced
    async def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


class Wrapping(Plugin):
    """A hook around the others' hooks."""

    @hookimpl(wrapper=True)
    def register_tools(self) -> Iterator[None]:
        return (yield)


class Pushy(Plugin):
    """A hook that wants to be first."""

    @hookimpl(tryfirst=True)
    def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


class Misnamed(Plugin):
    """A hook with a parameter that it does not have."""

    @hookimpl
    def register_tools(self, host: object) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]


class Crashing(Plugin):
    """One hook works, the other one raises: nothing of either is kept."""

    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]

    @hookimpl
    def register_transports(self) -> Iterable[Any]:
        raise RuntimeError("the cable is missing")


class Quitting(Plugin):
    """A hook that ends the process."""

    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        sys.exit("I quit")


class Rubbish(Plugin):
    """A hook that returns something else than it promises."""

    @hookimpl
    def register_tools(self) -> Iterable[Any]:
        return ["leftover"]


class Single(Plugin):
    """A hook that returns one contribution instead of a list."""

    @hookimpl
    def register_tools(self) -> Any:
        return ToolDefinition(leftover)


class Lifeless(Plugin):
    """A life that does not begin; the tool would need it."""

    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        return [ToolDefinition(leftover)]

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        raise ConnectionError("the database is away")
        yield


class Unbuildable(Plugin):
    """A class that cannot be made."""

    def __init__(self, config: object) -> None:
        raise FileNotFoundError("no such model file")
