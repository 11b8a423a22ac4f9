"""The peer of pegboard: the toolkit for `pegboard stdio --file`, and a host for programs that mount it."""

from __future__ import annotations

import os
from typing import Any

from pydantic import BaseModel

from pegboard import Context, Host, ImageContent, Toolkit
from pegboard.plugin import ToolDefinition

NAME = os.environ.get("PEER_NAME", "peg").removeprefix("peer ")
PIXEL = bytes.fromhex("89504e470d0a1a0a")


class Person(BaseModel):
    """The form of the question."""

    name: str


class Sum(BaseModel):
    """A structured result."""

    total: int
    terms: list[int]


def toolkit(name: str) -> Toolkit:
    """Return the toolkit of a peer with this name."""
    kit, scheme = Toolkit("peer", prefix=False), name.replace("_", "-")

    @kit.tool
    def add(a: int, b: int) -> Sum:
        """Add two numbers."""
        return Sum(total=a + b, terms=[a, b])

    @kit.tool
    def picture() -> ImageContent:
        """Return a picture."""
        return ImageContent(PIXEL, "image/png")

    @kit.tool
    async def count(context: Context[Any], steps: int) -> str:
        """Count aloud."""
        for step in range(steps):
            await context.progress.report(step + 1, steps, f"step {step + 1}")
        await context.log.info("counted")
        return f"{steps} steps"

    @kit.tool
    def fail() -> str:
        """Fail."""
        raise ValueError("on purpose")

    @kit.tool
    async def grow(context: Context[Any]) -> str:
        """Add a tool."""

        def grown() -> str:
            """Grown."""
            return "grown"

        context.catalogue.add(ToolDefinition(grown))
        return "grown"

    @kit.tool
    async def ask(context: Context[Any]) -> str:
        """Ask the person."""
        answer = await context.ui.elicit("What is your name?", Person)
        return f"{answer.action}: {answer.content.name if answer.content else ''}"

    @kit.tool
    async def sample(context: Context[Any]) -> str:
        """Ask the model."""
        return (await context.sampling.create_message("A word?", 10)).text

    @kit.resource(f"{scheme}://note", mime_type="text/plain")
    def note() -> str:
        """A note."""
        return "tea"

    @kit.resource(f"{scheme}://picture", mime_type="image/png")
    def pixel() -> bytes:
        """A picture."""
        return PIXEL

    @kit.resource(f"{scheme}://notes/{{number}}")
    def numbered(number: str) -> str:
        """A note by its number."""
        return f"note {number}"

    @kit.prompt
    def greet(name: str) -> str:
        """Greet by name."""
        return f"Greet {name}."

    @kit.completion(greet, "name")
    def names(typed: str) -> list[str]:
        return [person for person in ("Ann", "Anton", "Bea") if person.startswith(typed)]

    return kit


def host(name: str) -> Host:
    """Return a host to mount."""
    return Host({"host": {"autoload": False}}, toolkits={"peer": toolkit(name)})


kit = toolkit(NAME)
