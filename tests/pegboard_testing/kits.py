"""A toolkit as its author would write it, for the tests of the kit that tests it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

from pydantic import BaseModel

from pegboard import Context, PluginConfig, PromptMessage, RetryableToolError, Toolkit
from pegboard.types import Elicit, ListRoots, Sample

entered: ContextVar[str] = ContextVar("entered")
"""Set while a lifespan is open, in the task that opened it."""


class TripsConfig(PluginConfig):
    home: str = "Bern"


class Booking(BaseModel):
    name: str
    seats: int = 1


kit = Toolkit("trips", config=TripsConfig)


@kit.lifespan
async def live(config: TripsConfig) -> AsyncIterator[list[str]]:
    token = entered.set("yes")
    yield []
    entered.reset(token)  # raises in another task than the task that entered


@kit.tool
def route(to: str, context: Context) -> str:
    """Plan a route."""
    return f"{context.config.home} to {to} for {context.user_id}"


@kit.tool
async def prices(cities: list[str]) -> dict[str, int]:
    """Look up prices."""
    return {city: len(city) * 10 for city in cities}


@kit.tool
def nothing() -> None:
    """Give nothing."""


@kit.tool(requires_secrets=["AGENCY_KEY"])
def secret(context: Context) -> str:
    """Use a secret."""
    return context.get_secret("AGENCY_KEY")


@kit.tool
def again() -> str:
    """Ask for another try."""
    raise RetryableToolError("too early", additional_prompt_content="Wait.", retry_after_ms=50)


@kit.tool
def crash() -> str:
    """Fail by accident."""
    raise KeyError("the author's own mistake")


@kit.tool
async def book(context: Context) -> str:
    """Book a trip."""
    answer = await context.ui.elicit("Who travels?", Booking)
    if answer.content is None:
        return answer.action
    sure = await context.ui.elicit("Sure?")
    return f"{answer.content.name} {answer.content.seats} {sure.action}"


@kit.tool
async def everything(context: Context) -> list[Any]:
    """Ask everything at once."""
    got = await context.ask(where=Elicit("Where?", str), sight=Sample("A sight?", 10), roots=ListRoots())
    page = await context.ui.elicit_url("Sign in.", "https://agency.example")
    return [got["where"].content, got["sight"].text, [root.uri for root in got["roots"]], page.action]


@kit.tool
async def tell(context: Context) -> str:
    """Tell what it does."""
    context.log.debug("looking", step=1)
    context.progress.report(1, 2, "half")
    context.notifications.resources.updated("trips://home")
    return "told"


@kit.tool
async def forever(context: Context) -> str:
    """Never end."""
    context.progress.report(1)
    try:
        await asyncio.Event().wait()
    finally:
        context.state.append("cancelled")
    return ""


@kit.tool
def ends(context: Context) -> list[str]:
    """Say what ended."""
    state: list[str] = context.state
    return state


@kit.resource("trips://home", mime_type="text/plain")
def home(context: Context) -> str:
    """Where trips begin."""
    return str(context.config.home)


@kit.resource("trips://map")
def world() -> bytes:
    """A map."""
    return bytes(range(256))


@kit.resource("trips://cities/{name}", mime_type="text/plain", completions={"name": ["Bern", "Basel", "Rome"]})
def city(name: str) -> str:
    """A city."""
    return f"City of {name}"


@kit.prompt(completions={"style": ["brief", "broad"]})
def plan(style: str = "brief") -> list[PromptMessage]:
    """Plan a trip."""
    return [PromptMessage(f"Plan, {style}."), PromptMessage("Where to?", role="assistant")]
