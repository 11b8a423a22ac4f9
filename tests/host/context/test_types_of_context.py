"""Types that type checkers see in a Context. mypy checks the assertions; the test runs the same code."""

from __future__ import annotations

from typing import Annotated, Any, Literal, assert_type

from pegboard import Authorization, Context, Elicited, PluginConfig, Toolkit
from tests.host.hosting import failure, make_host, value


class Settings(PluginConfig):
    size: int = 3


class State:
    """The state of a lifespan."""


kit = Toolkit("t", prefix=False, config=Settings)


@kit.tool
def typed(context: Annotated[Context[Settings, State], "the call"]) -> int:
    """Use settings and state."""
    assert_type(context.state, State)
    return assert_type(context.config, Settings).size


@kit.tool
async def asks(context: Context[Settings]) -> None:
    """Use a token that is not declared."""
    assert_type(context.state, Any)
    assert_type(context.authorization, Authorization)
    assert_type(await context.ui.elicit("Who?", State), Elicited[State])
    assert_type(await context.ui.elicit("Sure?"), Elicited[dict[str, Any]])
    assert_type(await context.ui.elicit("Which?", Literal["a", "b"]), Elicited[Any])
    assert_type((await context.ui.elicit("Who?", State)).content, State | None)


async def test_a_context_has_types_of_config_and_state_and_no_undeclared_token() -> None:
    async with make_host(kit) as host:
        assert await value(host, "typed") == 3
        assert not any(bound.tool.input_schema["properties"] for bound in host.assembly.tools.values())
        refused = await failure(host, "asks")
    assert "the tool asks does not declare requires_auth" in str(refused.error.__cause__)
