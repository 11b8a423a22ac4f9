"""The fields of a context, and its reports to the client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Context, PluginConfig, Progress, Toolkit, current_context
from pegboard.plugin import InteractionError
from pegboard.types import Call, Caller, Client
from tests.host.hosting import failure, make_host, value


class Settings(PluginConfig):
    word: str = "hello"


FIELDS = (
    "tool", "arguments", "input", "config", "state", "request_id", "session_id", "client",
    "caller", "auth_info", "meta", "cancelled", "user_id",
)  # fmt: skip


async def seen(call: Call, *, configured: bool) -> dict[str, Any]:
    """Return the fields of a context that a call has."""
    kit = Toolkit("x", config=Settings if configured else None)
    found: dict[str, Any] = {}

    if configured:

        @kit.lifespan
        async def live(config: Settings) -> AsyncIterator[str]:
            yield f"state of {config.word}"

    @kit.tool
    async def look(context: Context, number: int = 1) -> None:
        """Look at everything."""
        await asyncio.sleep(0)
        assert current_context() is context
        found.update({name: getattr(context, name) for name in FIELDS})

    async with make_host(kit, config={"toolkits": {"x": {"word": "moin"} if configured else {}}}) as host:
        await host.dispatch(call)
    assert current_context() is None
    return found


async def test_a_tool_sees_its_call() -> None:
    client = Client("a client", "1.0", "2025-11-25", {"sampling": {}})
    params = {"name": "x_look", "arguments": {"number": "7"}, "_meta": {"a": 1}}
    assert await seen(Call("tools/call", params, Caller("ann"), client, 17, "session-1"), configured=True) == {
        "tool": "x_look",
        "arguments": {"number": "7"},
        "input": {"number": "7"},
        "config": Settings(word="moin"),
        "state": "state of moin",
        "request_id": 17,
        "session_id": "session-1",
        "client": client,
        "caller": Caller("ann"),
        "auth_info": Caller("ann"),
        "meta": {"a": 1},
        "cancelled": False,
        "user_id": "ann",
    }
    absent = await seen(Call("tools/call", {"name": "x_look", "_meta": "no object"}), configured=False)
    assert {name: value for name, value in absent.items() if value} == {
        "tool": "x_look",
        "client": absent["client"],
        "caller": absent["caller"],
    }
    assert (absent["client"].name, absent["caller"].subject) == ("", None)
    assert (absent["meta"], absent["arguments"]) == ({}, {})


def collected() -> tuple[Progress, list[dict[str, Any]]]:
    sent: list[dict[str, Any]] = []
    return Progress(lambda method, params: sent.append({"method": method, **params})), sent


@pytest.mark.requirement("UTIL-11", "UTIL-12")
def test_progress_increases_until_it_is_closed() -> None:
    progress, sent = collected()
    progress.report(0)
    progress.report(0.5, total=2)
    for step in (1, 1, 0.5, 1.0, float("nan")):
        progress.report(step, total=2, message="half")
    progress.close()
    progress.report(2)
    assert sent == [
        {"method": "notifications/progress", "progress": 0},
        {"method": "notifications/progress", "progress": 0.5, "total": 2},
        {"method": "notifications/progress", "progress": 1, "total": 2, "message": "half"},
    ]
    Progress(None).report(1)


async def test_awaiting_progress_gives_the_loop_a_turn() -> None:
    progress, sent = collected()
    order: list[str] = []
    other = asyncio.create_task(asyncio.sleep(0))
    other.add_done_callback(lambda _: order.append("the other"))
    for step in (1, 2, 3):
        await progress.report(step)
    order.append("the reporter")
    assert order == ["the other", "the reporter"]
    assert len(sent) == 3


async def run(function: Any, **fields: Any) -> Any:
    """Return the value of a tool."""
    kit = Toolkit("own", prefix=False)
    kit.tool(description="x")(function)
    async with make_host(kit) as host:
        return await value(host, function.__name__, **fields)


async def test_log_messages_reach_the_client_and_the_log(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[tuple[str, Any]] = []

    async def tool(context: Context) -> None:
        await context.log.info("plain")
        await context.log.warning("with more", count=3, when=object)
        context.log.debug({"a": 1})
        with pytest.raises(ValueError, match="level"):
            context.log.log("loud", "x")  # type: ignore[arg-type]

    caplog.set_level("DEBUG", "pegboard.tools")
    await run(tool, notify=lambda *message: sent.append(message))
    assert [(method, params["level"], params["data"]) for method, params in sent] == [
        ("notifications/message", "info", "plain"),
        ("notifications/message", "warning", {"message": "with more", "count": 3, "when": str(object)}),
        ("notifications/message", "debug", {"a": 1}),
    ]
    assert {params["logger"] for _, params in sent} == {"tool"}
    told = [record.getMessage() for record in caplog.records if record.name == "pegboard.tools.tool"]
    assert told == ["plain", "with more", "{'a': 1}"]


async def test_a_request_to_the_client_goes_out_unchanged_and_needs_a_session() -> None:
    asked: list[Any] = []

    async def ask(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        asked.append((method, params, options))
        return {"fine": True}

    async def tool(context: Context) -> Any:
        return await context.send_request("ping", {"a": 1}, timeout=3, reset_on_progress=True, max_total=9)

    assert await run(tool, ask=ask) == {"fine": True}
    options = {"timeout": 3, "progress": None, "reset_on_progress": True, "max_total": 9}
    assert asked == [("ping", {"a": 1}, options)]
    kit = Toolkit("own", prefix=False)
    kit.tool(description="x")(tool)
    async with make_host(kit) as host:
        assert isinstance((await failure(host, "tool")).error, InteractionError)


async def test_nothing_is_sent_for_a_call_that_has_ended() -> None:
    sent: list[str] = []
    kept: list[Context] = []

    async def tool(context: Context) -> None:
        kept.append(context)
        context.send_notification("notifications/x", {"a": 1})

    await run(tool, notify=lambda method, params: sent.append(method))
    kept[0].send_notification("notifications/x")
    kept[0].log.info("too late")
    kept[0].progress.report(1)
    assert sent == ["notifications/x"]
