"""Log lines of requests: their outcome, and nothing of arguments and results."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import RetryableToolError, Toolkit
from pegboard.types import Call, Client, Failure
from pegboard_plugins.logging import _MAX_NAME_CHARACTERS, LoggingPlugin
from tests.host.hosting import call, make_host

CANARY = "canary-7f3a91"


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    async def echo(text: str) -> dict[str, str]:
        """Say it back."""
        return {"said": text}

    @kit.tool
    async def refuse(text: str) -> str:
        """Refuse."""
        raise RetryableToolError(f"no {text}", text, text, extra={"text": text})

    @kit.tool
    async def crash(text: str) -> str:
        """Crash."""
        raise KeyError(text)

    kit.resource("x://resource")(lambda: CANARY)
    kit.prompt(name="ask", description="Ask.")(lambda: CANARY)
    return kit


@pytest.fixture
def calls(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return the logged lines without milliseconds."""
    caplog.set_level(logging.INFO, "pegboard.calls")

    def lines() -> list[str]:
        found = [record.getMessage() for record in caplog.records if record.name == "pegboard.calls"]
        return [re.sub(r"\d+\.\d ms$", "N ms", line) for line in found]

    return lines


CLIENT = Client("a client", "1.0")
PLUGINS = {"logging_of_test": LoggingPlugin}


async def test_each_request_is_logged_with_its_outcome(calls: Callable[[], list[str]]) -> None:
    async with make_host(make_kit(), plugins=PLUGINS) as host:
        await call(host, "x_echo", {"text": "a"}, client=CLIENT)
        await call(host, "x_refuse", {"text": "a"}, client=CLIENT)
        await call(host, "x_crash", {"text": "a"}, client=CLIENT)
        await call(host, "x_echo", {}, client=CLIENT)
        await call(host, "x_nothing", client=CLIENT)
        for method, params in (
            ("tools/list", {}),
            ("resources/read", {"uri": "x://resource"}),
            ("prompts/get", {"name": "x_ask"}),
            ("prompts/get", {}),
        ):
            await host.dispatch(Call(method, params))
    assert calls() == [
        "tools/call x_echo for a client: ok in N ms",
        "tools/call x_refuse for a client: TOOL_RUNTIME_RETRY in N ms",
        "tools/call x_crash for a client: TOOL_RUNTIME_FATAL in N ms",
        "tools/call x_echo for a client: TOOL_RUNTIME_BAD_INPUT_VALUE in N ms",
        "tools/call x_nothing for a client: NotFoundError in N ms",
        "tools/list for unknown client: ok in N ms",
        "resources/read x://resource for unknown client: ok in N ms",
        "prompts/get x_ask for unknown client: ok in N ms",
        "prompts/get for unknown client: ProtocolError in N ms",
    ]


async def test_a_cancelled_call_is_logged(calls: Callable[[], list[str]]) -> None:
    kit = Toolkit("x")
    begun = asyncio.Event()

    @kit.tool
    async def wait() -> None:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()

    async with make_host(kit, plugins=PLUGINS) as host:
        task = asyncio.create_task(call(host, "x_wait"))
        await begun.wait()
        task.cancel()
        await asyncio.wait((task,))
    assert calls() == ["tools/call x_wait for unknown client: cancelled in N ms"]


@pytest.mark.requirement("SEC-06")
@pytest.mark.parametrize("name", ["x_echo", "x_refuse", "x_nothing"])
async def test_arguments_and_results_are_never_logged(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with make_host(make_kit(), plugins=PLUGINS) as host:
        caplog.clear()
        await call(host, name, {"text": CANARY})
        await host.dispatch(Call("resources/read", {"uri": "x://resource"}))
        await host.dispatch(Call("prompts/get", {"name": "x_ask"}))
    of_calls = [record for record in caplog.records if record.name == "pegboard.calls"]
    assert len(of_calls) == 3
    for record in of_calls:
        assert CANARY not in record.getMessage()
        assert CANARY not in repr(record.args)
        assert record.exc_info is None


@pytest.mark.requirement("SEC-05")
@pytest.mark.parametrize(
    ("params", "client", "line"),
    [
        ({"name": {"secret": CANARY}}, "c", "tools/call for c: ProtocolError in N ms"),
        ({"name": "a\nb"}, "c", "tools/call 'a\\nb' for c: NotFoundError in N ms"),
        ({"name": "x" * 1000}, "c", f"tools/call {'x' * _MAX_NAME_CHARACTERS}... for c: NotFoundError in N ms"),
        ({"name": "a"}, "\x1b[31m", "tools/call a for '\\x1b[31m': NotFoundError in N ms"),
        ({"name": "a"}, "y" * 1000, f"tools/call a for {'y' * _MAX_NAME_CHARACTERS}...: NotFoundError in N ms"),
    ],
    ids=["no text", "line break", "length", "escape", "client's length"],
)
async def test_clients_cannot_forge_lines(
    params: dict[str, Any], client: str, line: str, calls: Callable[[], list[str]]
) -> None:
    async with make_host(make_kit(), plugins=PLUGINS) as host:
        await host.dispatch(Call("tools/call", params, client=Client(client)))
    assert calls() == [line]


async def test_nothing_is_logged_or_measured_at_a_higher_level(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, "pegboard.calls")
    monkeypatch.setattr("pegboard_plugins.logging.perf_counter", None)
    async with make_host(make_kit(), plugins=PLUGINS) as host:
        outcome = await call(host, "x_echo", {"text": "a"})
    assert not isinstance(outcome, Failure)
    assert [record for record in caplog.records if record.name == "pegboard.calls"] == []
