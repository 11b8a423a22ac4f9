"""What a tool sees of the call it serves."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Context, PluginConfig, Progress, Toolkit
from pegboard.errors import ToolDefinitionError
from pegboard.plugin import Plugin, SecretStore, hookimpl
from pegboard.types import Call, Caller, Client
from tests.host.hosting import failure, make_host, plugin_of, value


@dataclasses.dataclass
class Store:
    """Secrets in a dict."""

    secrets: dict[str, str]
    name: str = "store"

    def get(self, name: str) -> str | None:
        return self.secrets.get(name)


class Settings(PluginConfig):
    word: str = "hello"


async def test_a_tool_sees_its_call() -> None:
    kit = Toolkit("x", config=Settings)
    seen: dict[str, Any] = {}

    @kit.lifespan
    async def live(config: Settings) -> AsyncIterator[str]:
        yield f"state of {config.word}"

    @kit.tool
    def look(context: Context, number: int = 1) -> None:
        """Look at everything."""
        for name in (
            "tool", "arguments", "config", "state", "request_id", "session_id", "client", "caller", "meta", "cancelled",
        ):  # fmt: skip
            seen[name] = getattr(context, name)

    client = Client("a client", "1.0", "2025-11-25", {"sampling": {}})
    async with make_host(kit, config={"toolkits": {"x": {"word": "moin"}}}) as host:
        await host.dispatch(
            Call(
                "tools/call",
                {"name": "x_look", "arguments": {"number": "7"}, "_meta": {"a": 1}},
                Caller("someone"),
                client,
                17,
                "session-1",
            )
        )
    assert seen == {
        "tool": "x_look",
        "arguments": {"number": "7"},
        "config": Settings(word="moin"),
        "state": "state of moin",
        "request_id": 17,
        "session_id": "session-1",
        "client": client,
        "caller": Caller("someone"),
        "meta": {"a": 1},
        "cancelled": False,
    }


async def test_what_is_absent_is_none_or_empty() -> None:
    kit = Toolkit("x")
    seen: dict[str, Any] = {}

    @kit.tool
    async def look(context: Context) -> None:
        """Look at everything."""
        for name in ("arguments", "config", "state", "request_id", "session_id", "meta"):
            seen[name] = getattr(context, name)
        seen["client"] = context.client.name
        seen["caller"] = context.caller.subject

    async with make_host(kit) as host:
        await host.dispatch(Call("tools/call", {"name": "x_look", "_meta": "no object"}))
    assert seen == {
        "arguments": {}, "config": None, "state": None, "request_id": None, "session_id": None, "meta": {},
        "client": "", "caller": None,
    }  # fmt: skip


# --- secrets


def secret_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool(requires_secrets=["API_KEY"])
    def declared(context: Context) -> str:
        """Read a declared secret."""
        return context.get_secret("API_KEY")

    @kit.tool(requires_secrets=["API_KEY"])
    def other(context: Context) -> str:
        """Read a secret that was not declared."""
        return context.get_secret("OTHER")

    @kit.tool
    def none(context: Context) -> str:
        """Read a secret without declaring any."""
        return context.get_secret("API_KEY")

    return kit


async def test_a_tool_reads_the_secrets_it_declared_and_no_others() -> None:
    store = plugin_of(stores=[Store({"API_KEY": "k-123", "OTHER": "canary-7f3a91"})])
    async with make_host(secret_kit(), plugins={"store": store}) as host:
        assert await value(host, "x_declared") == "k-123"
        for name in ("x_other", "x_none"):
            outcome = await failure(host, name)
            assert outcome.error.message == "It failed unexpectedly."
            cause = outcome.error.__cause__
            assert isinstance(cause, ToolDefinitionError)
            assert "does not declare" in str(cause)


@pytest.mark.parametrize("stored", [{}, {"API_KEY": ""}], ids=["absent", "empty"])
async def test_a_missing_secret_fails_the_call_before_the_function_runs(stored: dict[str, str]) -> None:
    async with make_host(secret_kit(), plugins={"store": plugin_of(stores=[Store(stored)])}) as host:
        outcome = await failure(host, "x_declared")
    assert outcome.error.message == (
        "This tool needs a secret that is not set on the server: API_KEY. Ask its operator to set it."
    )


async def test_the_first_store_that_has_a_secret_gives_it() -> None:
    def named(name: str, secrets: dict[str, str]) -> type[Plugin]:
        return plugin_of(stores=[Store(secrets, name)])

    stores = {"b": named("b", {"API_KEY": "of b"}), "a": named("a", {"API_KEY": ""}), "c": named("c", {"API_KEY": "c"})}
    async with make_host(secret_kit(), plugins=stores) as host:
        assert await value(host, "x_declared") == "of b"


async def test_a_store_is_asked_once_for_each_secret_when_the_host_starts() -> None:
    asked: list[str] = []

    class Counting:
        name = "counting"

        def get(self, name: str) -> str | None:
            asked.append(name)
            return "secret"

    class Stores(Plugin):
        @hookimpl
        def register_secret_stores(self) -> list[SecretStore]:
            return [Counting()]

    async with make_host(secret_kit(), plugins={"stores": Stores}) as host:
        assert asked == ["API_KEY"]
        await value(host, "x_declared")
    assert asked == ["API_KEY"]


# --- progress


def collected() -> tuple[Progress, list[dict[str, Any]]]:
    sent: list[dict[str, Any]] = []
    return Progress(lambda method, params: sent.append({"method": method, **params})), sent


def test_progress_carries_what_was_said_and_leaves_out_the_rest() -> None:
    progress, sent = collected()
    progress.report(0)
    progress.report(0.5, total=2)
    progress.report(1, total=2, message="half")
    assert sent == [
        {"method": "notifications/progress", "progress": 0},
        {"method": "notifications/progress", "progress": 0.5, "total": 2},
        {"method": "notifications/progress", "progress": 1, "total": 2, "message": "half"},
    ]


@pytest.mark.requirement("UTIL-11")
def test_progress_that_does_not_increase_is_not_sent() -> None:
    progress, sent = collected()
    for step in (1, 1, 0.5, 2, 2.0, 3):
        progress.report(step)
    assert [one["progress"] for one in sent] == [1, 2, 3]


@pytest.mark.requirement("UTIL-12")
def test_progress_stops_when_it_is_closed() -> None:
    progress, sent = collected()
    progress.report(1)
    progress.close()
    progress.report(2)
    assert len(sent) == 1


async def test_progress_may_be_awaited_which_gives_the_loop_a_turn() -> None:
    progress, sent = collected()
    order: list[str] = []
    other = asyncio.create_task(asyncio.sleep(0))
    other.add_done_callback(lambda _: order.append("the other"))
    await progress.report(1)
    await progress.report(2)
    await progress.report(3)
    order.append("the reporter")
    assert order == ["the other", "the reporter"]
    assert len(sent) == 3


def test_progress_without_a_listener_is_nothing() -> None:
    Progress(None).report(1)
