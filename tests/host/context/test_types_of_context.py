"""Types that type checkers see in a Context. mypy checks the assertions; the tests run the same code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal, assert_type

import pytest
from pydantic import BaseModel

from pegboard import Authorization, Context, Elicited, PluginConfig, Toolkit
from tests.host.hosting import failure, make_host, value


class Settings(PluginConfig):
    size: int = 3


@dataclass
class State:
    name: str


class Person(BaseModel):
    name: str


@asynccontextmanager
async def life(context: Any) -> AsyncIterator[State]:
    yield State("open")


def make_kit() -> Toolkit:
    kit = Toolkit("t", prefix=False, config=Settings)
    kit.lifespan(life)

    @kit.tool
    def typed(context: Context[Settings, State]) -> str:
        """Use settings and state."""
        assert_type(context.config, Settings)
        assert_type(context.state, State)
        return f"{context.config.size} {context.state.name}"

    @kit.tool
    def with_settings(context: Annotated[Context[Settings], "the call"]) -> int:
        """Use settings alone."""
        assert_type(context.config.size, int)
        assert_type(context.state, Any)
        return context.config.size

    @kit.tool
    def plain(context: Context) -> Any:
        """Declare nothing."""
        assert_type(context.config, Any)
        assert_type(context.authorization, Authorization)
        return None

    return kit


async def asks(context: Context) -> None:
    """Type checkers read this; nobody runs it."""
    assert_type(await context.ui.elicit("Who?", Person), Elicited[Person])
    assert_type(await context.ui.elicit("How many?", int), Elicited[int])
    assert_type(await context.ui.elicit("Sure?"), Elicited[dict[str, Any]])
    assert_type(await context.ui.elicit("Sure?", {"type": "object", "properties": {}}), Elicited[dict[str, Any]])
    assert_type(await context.ui.elicit("Which?", Literal["a", "b"]), Elicited[Any])
    assert_type(await context.ui.elicit_url("Pay.", "https://example.com"), Elicited[None])
    answer = await context.ui.elicit("Who?", Person)
    assert_type(answer.content, Person | None)


async def test_the_context_takes_types_of_config_and_state() -> None:
    async with make_host(make_kit()) as host:
        assert await value(host, "typed") == "3 open"
        assert await value(host, "with_settings") == 3
        assert not any(bound.tool.input_schema["properties"] for bound in host.assembly.tools.values())


async def test_authorization_is_an_error_for_a_tool_that_does_not_declare_it(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(make_kit()) as host:
        await failure(host, "plain")
    assert "the tool plain does not declare requires_auth" in caplog.text
