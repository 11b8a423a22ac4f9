"""Log lines of requests: their outcome, and nothing of arguments and results."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from pegboard import RetryableToolError, Toolkit
from pegboard.types import Call, Client
from pegboard_plugins.operation.logging import _MAX_NAME_CHARACTERS, LoggingPlugin
from tests.host.hosting import Waiting, call, cancel, kit_of, make_host

CANARY = "canary-7f3a91"
CLIENT = Client("a client", "1.0")
PLUGINS = {"logging_of_test": LoggingPlugin}


async def echo(text: str) -> dict[str, str]:
    return {"said": text}


async def refuse(text: str) -> str:
    raise RetryableToolError(f"no {text}", text, text, extra={"text": text})


async def crash(text: str) -> str:
    raise KeyError(text)


def make_kit() -> Toolkit:
    kit = kit_of(echo, refuse, crash)
    kit.resource("x://resource")(lambda: CANARY)
    return kit


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the logged lines without milliseconds, and check that they hold no canary."""
    records = [record for record in caplog.records if record.name == "pegboard.calls"]
    assert not any(CANARY in f"{record.getMessage()} {record.args!r}" or record.exc_info for record in records)
    return [re.sub(r"\d+\.\d ms$", "N ms", record.getMessage()) for record in records]


@pytest.mark.requirement("SEC-06")
async def test_each_request_is_logged_with_its_outcome_and_without_its_data(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with make_host(make_kit(), plugins=PLUGINS) as host:
        for name in ("echo", "refuse", "crash", "nothing"):
            await call(host, name, {"text": CANARY}, client=CLIENT)
        await call(host, "echo", {}, client=CLIENT)
        await host.dispatch(Call("tools/list"))
        await host.dispatch(Call("resources/read", {"uri": "x://resource"}))
        await host.dispatch(Call("prompts/get", {}))
    assert lines(caplog) == [
        "tools/call echo for a client: ok in N ms",
        "tools/call refuse for a client: TOOL_RUNTIME_RETRY in N ms",
        "tools/call crash for a client: TOOL_RUNTIME_FATAL in N ms",
        "tools/call nothing for a client: NotFoundError in N ms",
        "tools/call echo for a client: TOOL_RUNTIME_BAD_INPUT_VALUE in N ms",
        "tools/list for unknown client: ok in N ms",
        "resources/read x://resource for unknown client: ok in N ms",
        "prompts/get for unknown client: ProtocolError in N ms",
    ]


async def test_requests_need_not_be_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pegboard.calls")
    config = {"plugins": {"logging_of_test": {"requests": False}}}
    async with make_host(make_kit(), config=config, plugins=PLUGINS) as host:
        await call(host, "nothing")
    assert lines(caplog) == []


async def test_a_cancelled_call_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pegboard.calls")
    waiting = Waiting()
    async with make_host(kit_of(waiting, name="x_wait"), plugins=PLUGINS) as host:
        await cancel(call(host, "x_wait"), waiting)
    assert lines(caplog) == ["tools/call x_wait for unknown client: cancelled in N ms"]


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
    ids=["no string", "line break", "length", "escape", "client's length"],
)
async def test_clients_cannot_forge_lines(
    params: dict[str, Any], client: str, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pegboard.calls")
    async with make_host(make_kit(), plugins=PLUGINS) as host:
        await host.dispatch(Call("tools/call", params, client=Client(client)))
    assert lines(caplog) == [line]
