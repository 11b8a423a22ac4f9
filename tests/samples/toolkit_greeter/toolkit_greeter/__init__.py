"""A toolkit with all that a toolkit can have: settings, a life, tools, a resource and a prompt."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from pydantic import Field

from pegboard import Context, PluginConfig, PromptMessage, ToolAnnotations, ToolExecutionError, Toolkit


class GreeterConfig(PluginConfig):
    """`[toolkits.greeter]`."""

    greeting: str = "Hello"
    loud: bool = False
    most: int = Field(default=100, ge=1)


kit = Toolkit("greeter", config=GreeterConfig, title="Greeter", description="Greets people.")


@kit.lifespan
async def open_the_book(config: GreeterConfig) -> AsyncIterator[list[str]]:
    yield []


@kit.tool(annotations=ToolAnnotations(read_only=True))
def hello(name: Annotated[str, "who is greeted"], context: Context) -> str:
    """Greet one person."""
    if len(context.state) >= context.config.most:
        raise ToolExecutionError("The guest book is full.")
    context.state.append(name)
    text = f"{context.config.greeting} {name}"
    return text.upper() if context.config.loud else text


@kit.tool
async def guests(context: Context) -> list[str]:
    """Tell who has been greeted."""
    return list(context.state)


@kit.tool(enabled=lambda config: config.loud)
def shout() -> str:
    """Make noise; offered to loud greeters only."""
    return "HEY"


@kit.resource("greeter://manners", title="Manners", mime_type="text/markdown")
def manners() -> str:
    """How to greet."""
    return "# Say hello first\n"


@kit.prompt(title="Introduce")
def introduce() -> list[PromptMessage]:
    """Ask for an introduction."""
    return [PromptMessage("Who are you?")]
