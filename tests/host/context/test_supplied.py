"""What a request itself brings for its tool: it comes before what the host has, and a tool sees what it declared."""

from __future__ import annotations

import pytest

from pegboard import Authorization, Context, Toolkit
from pegboard.errors import ToolDefinitionError
from pegboard.types import Caller, Supplied
from tests.host.context.test_context import Store
from tests.host.hosting import failure, make_host, plugin_of, value

STORE = {"store": plugin_of(stores=[Store({"API_KEY": "of the host"})])}


def kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool(requires_secrets=["API_KEY"])
    def read(context: Context) -> str:
        """Read the declared secret."""
        return context.get_secret("API_KEY")

    @kit.tool(requires_secrets=["API_KEY"])
    def spelt(context: Context) -> list[str]:
        """Read it in other spellings."""
        return [context.get_secret("api_key"), context.secrets["Api_Key"]]

    @kit.tool(requires_secrets=["API_KEY"])
    def all_of_them(context: Context) -> dict[str, str]:
        """Read everything."""
        return dict(context.secrets)

    @kit.tool(requires_secrets=["API_KEY"])
    def printed(context: Context) -> str:
        """Print them."""
        return f"{context.secrets!r} {context.secrets}"

    @kit.tool
    def who(context: Context) -> str | None:
        """Say who it is for."""
        return context.user_id

    @kit.tool
    def undeclared(context: Context) -> str:
        """Read a secret that was not declared."""
        return context.get_secret("API_KEY")

    @kit.tool
    async def outer(context: Context) -> str:
        """Have another tool read it."""
        return str(await context.tools.call("x_read"))

    return kit


async def test_the_requests_own_secret_comes_before_that_of_the_host() -> None:
    async with make_host(kit(), plugins=STORE) as host:
        assert await value(host, "x_read") == "of the host"
        assert await value(host, "x_read", supplied=Supplied(secrets={"api_KEY": "of the call"})) == "of the call"


@pytest.mark.parametrize("secrets", [{}, {"API_KEY": ""}, {"OTHER": "other"}])
async def test_what_the_request_does_not_bring_is_that_of_the_host(secrets: dict[str, str]) -> None:
    async with make_host(kit(), plugins=STORE) as host:
        assert await value(host, "x_read", supplied=Supplied(secrets=secrets)) == "of the host"


async def test_a_secret_that_the_host_lacks_may_come_with_the_request() -> None:
    async with make_host(kit()) as host:
        assert await value(host, "x_read", supplied=Supplied(secrets={"API_KEY": "of the call"})) == "of the call"
        refused = await failure(host, "x_read", supplied=Supplied(secrets={"OTHER": "of the call"}))
    assert "API_KEY" in refused.error.message


async def test_nobody_sees_what_was_not_declared() -> None:
    supplied = Supplied(secrets={"API_KEY": "of the call", "OTHER": "canary-5a81c3"})
    async with make_host(kit()) as host:
        assert await value(host, "x_all_of_them", supplied=supplied) == {"API_KEY": "of the call"}
        refused = await failure(host, "x_undeclared", supplied=supplied)
    assert isinstance(refused.error.__cause__, ToolDefinitionError)


async def test_names_of_secrets_are_the_same_in_any_case() -> None:
    async with make_host(kit(), plugins=STORE) as host:
        assert await value(host, "x_spelt") == ["of the host", "of the host"]


async def test_secrets_are_printed_without_their_values() -> None:
    async with make_host(kit(), plugins=STORE) as host:
        assert await value(host, "x_printed") == "Secrets(API_KEY) Secrets(API_KEY)"


async def test_the_request_says_for_whom_a_tool_runs() -> None:
    async with make_host(kit(), user="operator") as host:
        named = Supplied(user_id="of the call")
        assert await value(host, "x_who", supplied=named, caller=Caller("authenticated")) == "of the call"
        assert await value(host, "x_who", supplied=Supplied(), caller=Caller("authenticated")) == "authenticated"
        assert await value(host, "x_who", supplied=Supplied()) == "operator"


async def test_a_nested_tool_sees_the_same_secrets_and_never_the_token() -> None:
    seen: list[Supplied | None] = []
    nesting = kit()

    @nesting.tool
    async def look(context: Context) -> None:
        """Look at the call."""
        seen.append(context._call.supplied)

    @nesting.tool
    async def ask(context: Context) -> None:
        """Have another tool look at it."""
        await context.tools.call("x_look")

    supplied = Supplied(Authorization("canary-5a81c3"), {"API_KEY": "of the call"})
    async with make_host(nesting) as host:
        assert await value(host, "x_outer", supplied=supplied) == "of the call"
        await value(host, "x_ask", supplied=supplied)
    assert seen == [Supplied(None, {"API_KEY": "of the call"})]


def test_what_is_supplied_is_printed_without_its_values() -> None:
    supplied = Supplied(Authorization("canary-1", {"name": "canary-2"}), {"KEY": "canary-3"}, {"email": "canary-4"})
    assert "canary" not in repr(supplied) + repr(supplied.authorization)
