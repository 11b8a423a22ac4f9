"""The fields of a context, and its reports to the client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Context, PluginConfig, Toolkit, current_context
from pegboard.errors import InteractionError
from pegboard.types import Call, Caller, Client
from tests.host.hosting import failure, kit_of, make_host, value


class Settings(PluginConfig):
    word: str = "hello"


async def test_a_tool_sees_its_call() -> None:
    kit = Toolkit("x", config=Settings)
    seen: list[Context] = []

    @kit.lifespan
    async def live(config: Settings) -> AsyncIterator[str]:
        yield f"state of {config.word}"

    @kit.tool
    async def look(context: Context, number: int = 1) -> None:
        """Look at everything."""
        await asyncio.sleep(0)
        assert current_context() is context
        seen.append(context)

    client = Client("a client", "1.0", "2025-11-25", {"sampling": {}})
    params = {"name": "x_look", "arguments": {"number": "7"}, "_meta": {"a": 1}}
    async with make_host(kit, config={"toolkits": {"x": {"word": "moin"}}}) as host:
        await host.dispatch(Call("tools/call", params, Caller("ann"), client, 17, "session-1"))
        await host.dispatch(Call("tools/call", {"name": "x_look", "_meta": "no object"}))
    assert current_context() is None
    context, bare = seen
    expected = {
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
    assert {name: getattr(context, name) for name in expected} == expected
    assert (bare.client.name, bare.caller.subject, bare.user_id, bare.session_id) == ("", None, None, None)
    assert (bare.meta, bare.arguments) == ({}, {})


async def run(function: Any, **fields: Any) -> Any:
    """Return the value of a tool."""
    async with make_host(kit_of(function)) as host:
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
    assert [(method, params["level"], params["data"], params["logger"]) for method, params in sent] == [
        ("notifications/message", "info", "plain", "tool"),
        ("notifications/message", "warning", {"message": "with more", "count": 3, "when": str(object)}, "tool"),
        ("notifications/message", "debug", {"a": 1}, "tool"),
    ]
    logged = [record.getMessage() for record in caplog.records if record.name == "pegboard.tools.tool"]
    assert logged == ["plain", "with more", "{'a': 1}"]


async def test_a_request_to_the_client_goes_out_unchanged_and_needs_a_session() -> None:
    requests: list[Any] = []

    async def ask(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        requests.append((method, params, options))
        return {"fine": True}

    async def tool(context: Context) -> Any:
        return await context.send_request("ping", {"a": 1}, timeout=3, reset_on_progress=True, max_total=9)

    async with make_host(kit_of(tool)) as host:
        assert await value(host, "tool", ask=ask) == {"fine": True}
        assert isinstance((await failure(host, "tool")).error, InteractionError)
    options = {"timeout": 3, "progress": None, "reset_on_progress": True, "max_total": 9}
    assert requests == [("ping", {"a": 1}, options)]


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
