"""What tools must know of their users and surroundings."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Context, Toolkit
from pegboard.errors import ToolDefinitionError
from pegboard.types import Call, Caller, Failure, Listing, Supplied
from tests.host.hosting import failure, make_host, value

ADA: dict[str, Any] = {"user": "ada", "metadata": {"User_Email": "ada@example.com", "empty": ""}}


def kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool(requires_metadata=["User_ID", "user_email", "USER_EMAIL"])
    def who(context: Context) -> list[str]:
        """Say who it is for."""
        return [context.get_metadata("user_id"), context.get_metadata("User_Email")]

    @kit.tool(requires_metadata=["empty", "team"])
    def team(context: Context) -> str:
        """Say what nobody knows."""
        return context.get_metadata("team")

    @kit.tool
    def undeclared(context: Context) -> str:
        """Say what was not declared."""
        return context.get_metadata("user_email")

    return kit


async def test_the_operator_says_it() -> None:
    async with make_host(kit(), **ADA) as host:
        assert await value(host, "x_who") == ["ada", "ada@example.com"]


async def test_the_authenticated_caller_comes_before_the_operators_user() -> None:
    async with make_host(kit(), **ADA) as host:
        assert await value(host, "x_who", caller=Caller("bob")) == ["bob", "ada@example.com"]


async def test_the_request_comes_before_both() -> None:
    supplied = Supplied(metadata={"USER_email": "eve@example.com", "team": "blue"}, user_id="eve")
    async with make_host(kit(), **ADA) as host:
        assert await value(host, "x_who", supplied=supplied, caller=Caller("bob")) == ["eve", "eve@example.com"]
        own = supplied._replace(metadata={"user_id": "mallory", "user_email": ""})
        assert await value(host, "x_who", supplied=own) == ["mallory", "ada@example.com"]


async def test_what_nobody_knows_is_told_before_the_tool_runs() -> None:
    async with make_host(kit(), **ADA) as host:
        failed = await failure(host, "x_team")
        known = Supplied(metadata={"team": "blue", "empty": "no more"})
        assert await value(host, "x_team", supplied=known) == "blue"
    assert failed.error.message == (
        "This tool needs to know what this server does not: empty, team. Ask its operator to set it."
    )


@pytest.mark.parametrize(
    ("known", "ways"),
    [
        ({}, "user_id, user_email; set `[host] user` and `[host] metadata`"),
        ({"user": "ada"}, "user_email; set `[host] metadata`"),
        ({"metadata": {"user_email": "ada@example.com"}}, "user_id; set `[host] user`"),
    ],
)
async def test_the_log_says_where_it_is_set(known: dict[str, Any], ways: str, caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(kit(), **known) as host:
        await failure(host, "x_who")
    assert caplog.messages[-1].endswith(f"not known: {ways}")


async def test_what_was_not_declared_is_an_error_of_the_author() -> None:
    async with make_host(kit(), **ADA) as host:
        failed = await failure(host, "x_undeclared", supplied=Supplied(metadata={"user_email": "eve@example.com"}))
    assert isinstance(failed.error.__cause__, ToolDefinitionError)


async def test_anonymous_callers_cannot_run_what_uses_the_operators() -> None:
    async with make_host(kit(), **ADA) as host:
        listing = await host.dispatch(Call("tools/list", {}, Caller()))
        assert isinstance(listing, Listing)
        for tool in listing.items:
            done = await host.dispatch(Call("tools/call", {"name": tool.name}, Caller()))
            refused = isinstance(done, Failure) and "the server does not know the caller" in done.error.message
            assert refused is (tool.name != "x_undeclared")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"requires_metadata": ["Client_Id"]}, "it requires the metadata client_id, that of a token, and no token"),
        ({"requires_metadata": ["a b"]}, "it requires the metadata 'a b', which is no name"),
        ({"requires_metadata": [5]}, "it requires the metadata 5, which is no name"),
        ({"requires_metadata": 5}, "its requires_metadata are 5, not a list of names"),
    ],
)
async def test_what_cannot_be_required_costs_the_tool(options: dict[str, object], complaint: str) -> None:
    kit = Toolkit("x")

    @kit.tool(**options)  # type: ignore[call-overload, untyped-decorator]
    def tool() -> None:
        """Do nothing."""

    async with make_host(kit) as host:
        assert list(host.assembly.tools) == []
        (problem,) = host.problems
    assert complaint in str(problem)


async def test_one_text_is_one_key() -> None:
    kit = Toolkit("x")

    @kit.tool(requires_metadata="user_id")
    def tool(context: Context) -> str:
        """Say who it is for."""
        return context.get_metadata("user_id")

    async with make_host(kit, **ADA) as host:
        assert await value(host, "x_tool") == "ada"
