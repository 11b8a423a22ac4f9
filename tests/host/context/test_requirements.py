"""Secrets and metadata that a tool requires: from the request, the caller or the host, and only the declared ones."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pegboard import Authorization, Context, Toolkit
from pegboard.errors import ToolDefinitionError
from pegboard.plugin import Plugin, SecretStore
from pegboard.types import Caller, Failure, Supplied
from tests.host.hosting import call, failure, listed, make_host, plugin_of, value

ADA: dict[str, Any] = {"user": "ada", "metadata": {"User_Email": "ada@example.com", "empty": ""}}


@dataclasses.dataclass
class Store(SecretStore):
    """Secrets in a dict."""

    secrets: dict[str, str]
    name: str = "store"
    asked: list[str] = dataclasses.field(default_factory=list)

    def get(self, name: str) -> str | None:
        self.asked.append(name)
        return self.secrets.get(name)


kit = Toolkit("x")


@kit.tool(requires_secrets=["API_KEY"])
def read(context: Context) -> str:
    """Read the declared secret in several spellings."""
    assert context.get_secret("API_KEY") == context.get_secret("api_key") == context.secrets["Api_Key"]
    assert dict(context.secrets) == {"API_KEY": context.get_secret("API_KEY")}
    assert f"{context.secrets!r} {context.secrets}" == "Secrets(API_KEY) Secrets(API_KEY)"
    return context.get_secret("API_KEY")


@kit.tool(requires_secrets=["API_KEY"])
def other(context: Context) -> str:
    """Read a secret that was not declared."""
    return context.get_secret("OTHER")


@kit.tool
def undeclared(context: Context) -> str:
    """Read a secret without declaring any."""
    return context.get_secret("API_KEY")


@kit.tool
def undeclared_metadata(context: Context) -> str:
    """Read metadata that was not declared."""
    return context.get_metadata("user_email")


@kit.tool
async def outer(context: Context) -> list[Any]:
    """Have other tools look."""
    return [await context.tools.call("x_read"), await context.tools.call("x_supplied")]


@kit.tool
def supplied(context: Context) -> str:
    """Look at everything that the request brought."""
    brought = context._call.supplied
    assert brought is not None
    return f"{brought.authorization} {dict(brought.secrets)}"


@kit.tool
def user(context: Context) -> str | None:
    """Name the user."""
    return context.user_id


@kit.tool(requires_metadata=["User_ID", "user_email", "USER_EMAIL"])
def who(context: Context) -> list[str]:
    """Name the user by metadata."""
    known = {key: context.get_metadata(key) for key in ("user_id", "user_email")}
    assert (dict(context.metadata), repr(context.metadata)) == (known, "Metadata(user_id, user_email)")
    return [context.get_metadata("user_id"), context.get_metadata("User_Email")]


@kit.tool(requires_metadata=["empty", "team"])
def team(context: Context) -> str:
    """Name the team."""
    return context.get_metadata("team")


def stores(**secrets: dict[str, str]) -> dict[str, type[Plugin]]:
    return {name: plugin_of(register_secret_stores=[Store(values, name)]) for name, values in secrets.items()}


async def test_the_first_store_that_has_a_secret_is_used_and_asked_once() -> None:
    first, last = Store({"API_KEY": "of b"}, "b"), Store({"API_KEY": "of c"}, "c")
    plugins = stores(a={"API_KEY": ""}) | {store.name: plugin_of(stores=[store]) for store in (last, first)}
    async with make_host(kit, plugins=plugins) as host:
        for _ in range(2):
            assert await value(host, "x_read") == "of b"
    assert (first.asked, last.asked) == (["API_KEY"], [])


async def test_a_secret_of_the_request_comes_before_the_secret_of_the_host() -> None:
    async with make_host(kit, plugins=stores(store={"API_KEY": "of the host"})) as host:
        for secrets, read in (({}, "of the host"), ({"API_KEY": ""}, "of the host"), ({"api_KEY": "own"}, "own")):
            assert await value(host, "x_read", supplied=Supplied(secrets=secrets)) == read


async def test_a_missing_secret_fails_the_call_unless_the_request_brings_it() -> None:
    async with make_host(kit, plugins=stores(store={"API_KEY": ""})) as host:
        assert await value(host, "x_read", supplied=Supplied(secrets={"API_KEY": "of the call"})) == "of the call"
        for brought in (None, Supplied(secrets={"OTHER": "of the call"})):
            assert (await failure(host, "x_read", supplied=brought)).error.message == (
                "This tool needs a secret that is not set on the server: API_KEY. Ask its operator to set it."
            )


@pytest.mark.parametrize("name", ["x_other", "x_undeclared", "x_undeclared_metadata"])
async def test_a_tool_reads_only_what_it_declared(name: str) -> None:
    brought = Supplied(secrets={"API_KEY": "k", "OTHER": "canary"}, metadata={"user_email": "eve@example.com"})
    async with make_host(kit, plugins=stores(store={"API_KEY": "k", "OTHER": "canary"}), **ADA) as host:
        refused = await failure(host, name, supplied=brought)
    assert refused.error.message == "It failed unexpectedly."
    assert isinstance(refused.error.__cause__, ToolDefinitionError)
    assert "does not declare" in str(refused.error.__cause__)


async def test_a_nested_tool_sees_the_same_secrets_and_never_the_token() -> None:
    brought = Supplied(Authorization("canary"), {"API_KEY": "of the call"})
    async with make_host(kit) as host:
        results = await value(host, "x_outer", supplied=brought)
    assert results == ["of the call", "None {'API_KEY': 'of the call'}"]


def test_supplied_values_are_not_printed() -> None:
    brought = Supplied(Authorization("canary-1", {"name": "canary-2"}), {"KEY": "canary-3"}, {"email": "canary-4"})
    assert "canary" not in repr(brought) + repr(brought.authorization)


BOB, EVE = Caller("bob"), Supplied(user_id="eve", metadata={"USER_email": "eve@example.com", "team": "blue"})
MALLORY = EVE._replace(metadata={"user_id": "mallory", "user_email": ""})


@pytest.mark.parametrize(
    ("fields", "name", "who"),
    [
        ({}, "ada", ["ada", "ada@example.com"]),
        ({"caller": BOB}, "bob", ["bob", "ada@example.com"]),
        ({"caller": BOB, "supplied": EVE}, "eve", ["eve", "eve@example.com"]),
        ({"supplied": MALLORY}, "eve", ["mallory", "ada@example.com"]),
    ],
)
async def test_the_request_comes_before_the_caller_and_the_caller_before_the_operators_user(
    fields: dict[str, Any], name: str, who: list[str]
) -> None:
    async with make_host(kit, **ADA) as host:
        assert await value(host, "x_user", **fields) == name
        assert await value(host, "x_who", **fields) == who


async def test_unknown_metadata_fails_the_call_and_the_log_names_the_setting(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(kit, **ADA) as host:
        failed = await failure(host, "x_team")
        known = Supplied(metadata={"team": "blue", "empty": "no more"})
        assert await value(host, "x_team", supplied=known) == "blue"
    assert failed.error.message == (
        "This tool needs metadata that is not set on the server: empty, team. Ask its operator to set it."
    )
    async with make_host(kit) as host:
        await failure(host, "x_who")
    ways = "user_id, user_email; set `[host] user` and `[host] metadata`"
    assert caplog.messages[-1].endswith(f"has no value: {ways}")


async def test_anonymous_callers_cannot_run_tools_that_use_the_operators_metadata() -> None:
    async with make_host(kit, plugins=stores(store={"API_KEY": "k"}), **ADA) as host:
        assert await listed(host, Caller()) == [*host.assembly.tools]
        for name in host.assembly.tools:
            done = await call(host, name, caller=Caller())
            refused = isinstance(done, Failure) and "the server does not know the caller" in done.error.message
            assert refused is (name in ("x_read", "x_other", "x_who", "x_team", "x_outer"))
