"""Types that type checkers see in a Context. mypy checks the assertions; a test runs the same code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal, assert_type

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


kit = Toolkit("t", prefix=False, config=Settings)
kit.lifespan(life)


@kit.tool
def typed(context: Annotated[Context[Settings, State], "the call"]) -> str:
    """Use settings and state."""
    assert_type(context.config, Settings)
    assert_type(context.state, State)
    return f"{context.config.size} {context.state.name}"


@kit.tool
def plain(context: Context[Settings]) -> Any:
    """Use no state, and a token that is not declared."""
    assert_type(context.config.size, int)
    assert_type(context.state, Any)
    assert_type(context.authorization, Authorization)


async def asks(context: Context) -> None:
    """Ask in every form; only type checkers read this."""
    assert_type(await context.ui.elicit("Who?", Person), Elicited[Person])
    assert_type(await context.ui.elicit("Sure?"), Elicited[dict[str, Any]])
    assert_type(await context.ui.elicit("Which?", Literal["a", "b"]), Elicited[Any])
    assert_type(await context.ui.elicit_url("Pay.", "https://example.com"), Elicited[None])
    answer = await context.ui.elicit("Who?", Person)
    assert_type(answer.content, Person | None)


async def test_a_context_has_types_of_config_and_state_and_no_undeclared_token() -> None:
    async with make_host(kit) as host:
        assert await value(host, "typed") == "3 open"
        assert not any(bound.tool.input_schema["properties"] for bound in host.assembly.tools.values())
        refused = await failure(host, "plain")
    assert "the tool plain does not declare requires_auth" in str(refused.error.__cause__)
