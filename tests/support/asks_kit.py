"""The toolkit `asks`: tools, prompts and resources that ask their client, each in one way.

It is copied into a distribution that a process under test finds (`make_site`), so it imports nothing but
`pegboard`'s public names, pydantic and the standard library. One way of writing serves both eras.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from pegboard import ClientCapabilityError, ClientError, Context, Elicited, PluginConfig, Toolkit
from pegboard.types import Elicit, ElicitUrl, ListRoots, Sample

kit = Toolkit("asks", config=PluginConfig)


@dataclass
class State:
    """The labels of the steps that ran, and of the calls that were cancelled while they asked."""

    steps: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)


@kit.lifespan
async def live(config: PluginConfig) -> AsyncIterator[State]:
    yield State()


class Colour(Enum):
    RED = "red"
    GREEN = "green"


Currency = Annotated[Literal["eur"], Field(title="Euro")] | Annotated[Literal["chf"], Field(title="Swiss franc")]


class Person(BaseModel):
    """A form with a field of every kind."""

    name: Annotated[str, Field(min_length=1, max_length=40, description="as in the passport")]
    born: date | None = None
    age: Annotated[int, Field(ge=0, lt=150)] = 30
    height: float = 1.75
    member: bool = False
    colour: Colour = Colour.RED
    pays: Currency = "eur"


class Several(BaseModel):
    """A form with a choice of several, which 2025-06-18 does not have."""

    colours: Annotated[list[Colour], Field(min_length=1)]


def elicited_text(answer: Elicited[Any]) -> str:
    """An answer as text."""
    return f"{answer.action}: {answer.content!r}"


def tried(error: ClientError) -> str:
    """A failure as text."""
    missing = error.capability if isinstance(error, ClientCapabilityError) else None
    return f"{type(error).__name__} {missing or error.code}: {error.message}"


# --- one question


@kit.tool
async def name(context: Context, greeting: str = "Hello", options: dict[str, Any] | None = None) -> str:
    """Greet the person by name."""
    answer = await context.ui.elicit("What is your name?", str)
    return f"{greeting}, {answer.content}" if answer.accepted else answer.action


@kit.tool
async def person(context: Context) -> str:
    """Ask for a person."""
    return elicited_text(await context.ui.elicit("Who are you?", Person))


@kit.tool
async def several(context: Context) -> str:
    """Ask for several colours."""
    return elicited_text(await context.ui.elicit("Which colours?", Several))


@kit.tool
async def consent(context: Context) -> str:
    """Ask for nothing but consent."""
    return elicited_text(await context.ui.elicit("Shall I?"))


@kit.tool
async def page(context: Context) -> str:
    """Ask to open a page."""
    return elicited_text(await context.ui.elicit_url("Please sign in.", "https://example.invalid/sign-in?x=1"))


TOOL = {"name": "look", "inputSchema": {"type": "object"}}


@kit.tool
async def sample(context: Context, tools: bool = False) -> str:
    """Ask the client's model."""
    more: dict[str, Any] = {"tools": [TOOL], "tool_choice": {"mode": "auto"}} if tools else {}
    answer = await context.sampling.create_message(
        ["What is the capital of France?", {"role": "assistant", "content": [{"type": "text", "text": "Hm."}]}],
        50,
        system_prompt="Be brief.",
        temperature=0.5,
        stop_sequences=["."],
        model_preferences={"hints": [{"name": "small"}]},
        **more,
    )
    kinds = ",".join(block["type"] for block in answer.content)
    return f"{answer.model}/{answer.role}/{answer.stop_reason}/{kinds}: {answer.text}"


@kit.tool
async def roots(context: Context) -> list[str]:
    """List the client's roots."""
    return [f"{root.name}={root.uri}" for root in await context.resources.list_roots()]


# --- several questions


@kit.tool
async def at_once(context: Context) -> str:
    """Ask three questions of different kinds at once."""
    got = await context.ask(who=Elicit("Who?", str), capital=Sample("Capital?", 10), where=ListRoots())
    return f"{got['who'].content}, {got['capital'].text}, {len(got['where'])} roots"


@kit.tool
async def in_turn(context: Context) -> str:
    """Ask three questions, each of which follows from the answer before."""
    first = await context.ui.elicit("first", str)
    second = await context.ui.elicit(f"second after {first.content}", int)
    third = await context.ui.elicit_url(f"third after {second.content}", "https://example.invalid/3")
    return f"{first.content} {second.content} {third.action}"


@kit.tool
async def endless(context: Context) -> str:
    """Ask without end."""
    while True:
        await context.ui.elicit("again", str)


@kit.tool
async def large(context: Context, size: int) -> str:
    """Take a step that leaves much behind, and ask."""
    kept = await context.once("large", lambda: "x" * size)
    return f"{len(kept)} {(await context.ui.elicit('Go on?', str)).content}"


@kit.tool
async def step(context: Context, label: str) -> str:
    """Do something once, ask, and say how often it was done."""
    state: State = context.state
    await context.once("step", state.steps.append, label)
    await context.ui.elicit("Was it done?", str)
    return f"{state.steps.count(label)}"


@kit.tool
async def tells(context: Context) -> str:
    """Tell of progress and write to the log around a question."""
    await context.progress.report(1, 2, "asking")
    await context.log.info("asking")
    answer = await context.ui.elicit("Go on?", str)
    await context.progress.report(2, 2, "asked")
    return str(answer.content)


# --- what may go wrong


@kit.tool
async def careful(context: Context, kind: str) -> str:
    """Ask, and return the error."""
    questions: dict[str, Any] = {
        "form": Elicit("Who?", str),
        "url": ElicitUrl("Look.", "https://example.invalid/"),
        "sampling": Sample("Capital?"),
        "tools": Sample("Capital?", tools=[TOOL]),
        "roots": ListRoots(),
    }
    try:
        got = await context.ask(answer=questions[kind])
    except ClientError as error:
        return tried(error)
    return repr(got["answer"])


@kit.tool
async def hurried(context: Context) -> str:
    """Wait for an answer hardly at all."""
    try:
        return elicited_text(await context.ui.elicit("Quick!", str, timeout=0.05))
    except ClientError as error:
        return tried(error)


@kit.tool
async def patient(context: Context, label: str) -> str:
    """Note when it is cancelled while it asks."""
    state: State = context.state
    try:
        return elicited_text(await context.ui.elicit("Well?", str, timeout=None))
    except asyncio.CancelledError:
        state.cancelled.append(label)
        raise


@kit.tool
async def gone(context: Context) -> list[str]:
    """Say which calls were cancelled while they asked."""
    state: State = context.state
    return state.cancelled


@kit.tool
async def careless(context: Context) -> str:
    """Take a failure for an answer."""
    try:
        return elicited_text(await context.ui.elicit("Who?", str))
    except Exception:  # noqa: BLE001
        return "a default that must never go out"


# --- inside others


@kit.tool
async def outer(context: Context) -> str:
    """Call a tool that asks, twice side by side and once more."""
    both = await asyncio.gather(*[context.tools.call("asks_name", {"greeting": text}) for text in ("Hi", "Ho")])
    return " | ".join([*both, await context.tools.call("asks_name", {})])


@kit.prompt
async def welcome(context: Context, style: str = "plain") -> str:
    """Welcome the person by name."""
    answer = await context.ui.elicit("What is your name?", str)
    return f"Welcome {answer.content}, {style}."


@kit.resource("asks://cards/{number}", mime_type="text/plain")
async def cards(number: int, context: Context) -> str:
    """One of the person's cards."""
    return f"Card {number} of {(await context.ui.elicit('What is your name?', str)).content}"
