"""The toolkit that the tests of the command line look at and call. It is copied into a distribution."""

from __future__ import annotations

import enum
import threading
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from pegboard import (
    Context,
    EmbeddedResource,
    ImageContent,
    PluginConfig,
    ResourceContents,
    ResourceLink,
    RetryableToolError,
    TextContent,
    ToolAnnotations,
    Toolkit,
    ToolResult,
)
from pegboard.types import Elicit, ElicitUrl

CANARY = "canary-7f3a91"
EVIL = "Look: \x1b[31mred\x1b]8;;http://x\x07 \u202eback\u200b \U000e0041 \x9bC1 é 日本　語."


class Settings(PluginConfig):
    word: str = "hello"
    api_key: str | None = None
    write: bool = False


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


kit = Toolkit("demo", config=Settings)


@kit.tool(title="Echo", annotations=ToolAnnotations(read_only=True, idempotent=True))
def echo(text: Annotated[str, "what to say"]) -> str:
    """Say it back.

    With more to read about it.
    """
    return text


@kit.tool
def add(
    a: int,
    b: Annotated[int, Field(ge=0, description="the second\n\nor nothing")] = 1,
    *,
    color: Color = Color.RED,
    mode: Literal["x", "y"] = "x",
) -> int:
    """Add two numbers."""
    return a + b


@kit.tool
def shape(value: Any = None, items: list[int] | None = None) -> dict[str, Any]:
    """Give back what came."""
    return {"value": value, "items": items}


@kit.tool
async def nothing() -> None:
    """Return nothing."""


@kit.tool
def evil() -> str:
    return EVIL


evil.__doc__ = "Look: é 日本　語."


@kit.tool
def greet(context: Context) -> str:
    """Greet by the configured word."""
    return str(context.config.word)


@kit.tool
def again() -> str:
    """Ask for another try."""
    raise RetryableToolError("Too early.", additional_prompt_content="Try it later.", retry_after_ms=50)


@kit.tool
def mixed() -> ToolResult:
    """Return content of several kinds, which says that it failed."""
    resource = ResourceContents("x://y", b"xyz", "x/y")
    content = (
        TextContent("one"),
        ImageContent(b"xyz", "image/png"),
        ResourceLink("x://y", "y", title="The y"),
        EmbeddedResource(resource),
    )
    return ToolResult({"a": 1}, content=content, is_error=True)


@kit.tool
def crash() -> str:
    """Crash."""
    raise RuntimeError(CANARY)


@kit.tool
async def count(context: Context, to: int = 3) -> str:
    """Report progress."""
    for step in range(1, to + 1):
        context.progress.report(step, total=to, message=f"step {step}")
    return "counted"


class Order(BaseModel):
    name: Annotated[str, Field(min_length=2, description="for the cup")]
    cups: Annotated[int, Field(ge=1, le=9)] = 1
    size: Annotated[Literal["s"], Field(title="Small")] | Annotated[Literal["l"], Field(title="Large")] = "s"
    extras: list[Literal["milk", "sugar"]] = []
    warm: bool
    note: str | None = None


@kit.tool
async def order(context: Context) -> dict[str, Any]:
    """Ask for a form."""
    answer = await context.ui.elicit("What will it be?\nerror: forged", Order)
    return {"action": answer.action, "order": answer.content and answer.content.model_dump()}


@kit.tool
def visits(context: Context) -> int:
    """Count the visits in this session."""
    return int(context.session.get("visits", 0))


@kit.tool
async def both(context: Context) -> list[str]:
    """Ask for a page to be opened, and for consent, at once."""
    answers = await context.ask(page=ElicitUrl("Please pay.", "https://pay.example/1"), sure=Elicit("Sure?"))
    return [answers["page"].action, answers["sure"].action]


@kit.tool
def block(context: Context) -> str:
    """Block for ever."""
    context.progress.report(1, message="blocking")
    threading.Event().wait()
    return "never"


@kit.tool(requires_secrets=["DEMO_KEY"])
def secret(context: Context) -> int:
    """Measure a secret."""
    return len(context.get_secret("DEMO_KEY"))


@kit.tool(enabled=lambda config: config.write)
def write() -> str:
    """Write something."""
    return "written"


@kit.tool
def big(lines: int = 100_000) -> str:
    """Give a long text."""
    return "\n".join("a line of text" for _ in range(lines))
