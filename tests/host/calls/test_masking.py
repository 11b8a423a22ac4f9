"""Unexpected exceptions stay in the log, under an id that the response carries."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import ToolExecutionError, Toolkit, UpstreamError
from pegboard.types import Call, CallNext, Failure, Outcome
from tests.host.hosting import failure, make_host, plugin_of

CANARY = "canary-7f3a91"


def everything(outcome: Outcome) -> str:
    """Return all that a protocol could send of a failure."""
    assert isinstance(outcome, Failure)
    error = outcome.error
    seen: dict[str, Any] = {"text": str(error), "args": error.args, "type": type(error).__name__}
    if hasattr(error, "to_payload"):
        payload = error.to_payload()
        del payload["developer_message"]  # stays in the log; protocols are tested for that
        seen |= payload
    return repr(seen)


class Leaky(Exception):
    """An exception of a library, full of secrets."""

    def __init__(self) -> None:
        super().__init__(f"https://user:{CANARY}@example.com/?key={CANARY}")
        self.response = CANARY


def crash() -> str:
    """Crash."""
    raise Leaky


def crash_below() -> str:
    """Crash with a cause."""
    try:
        crash()
    except Leaky as error:
        raise ValueError(CANARY) from error
    return ""


def wrap() -> str:
    """Raise on purpose, with an accident as its cause."""
    try:
        crash()
    except Leaky as error:
        raise ToolExecutionError("The service is not there.", f"it said {CANARY}") from error
    return ""


def opaque() -> Any:
    """Return an object."""
    return type(CANARY, (), {})()


@pytest.mark.requirement("SEC-06")
@pytest.mark.parametrize("function", [crash, crash_below, wrap, opaque], ids=lambda one: one.__name__)
@pytest.mark.parametrize("inline", [False, True], ids=["", "inline"])
async def test_a_canary_appears_in_the_log_and_not_in_the_outcome(
    function: Callable[..., Any], inline: bool, caplog: pytest.LogCaptureFixture
) -> None:
    kit = Toolkit("x")
    kit.tool(name="go", inline=inline)(function)
    async with make_host(kit) as host:
        outcome, other = await failure(host, "x_go", {}), await failure(host, "x_go", {})
    assert CANARY not in everything(outcome)
    assert "Leaky" not in everything(outcome)
    record, _ = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert CANARY in caplog.text
    assert outcome.error_id
    assert outcome.error_id != other.error_id
    assert outcome.error_id in record.getMessage()
    assert "x_go" in record.getMessage()


@pytest.mark.requirement("SEC-06")
async def test_errors_raised_on_purpose_are_logged_only_for_their_developer_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = Toolkit("x")

    @kit.tool
    def upstream() -> str:
        """Raise with a message for developers."""
        raise UpstreamError("The service refused.", f"url: https://example.com/?key={CANARY}", status_code=500)

    @kit.tool
    def refuse() -> str:
        """Refuse."""
        raise ToolExecutionError("No.")

    async with make_host(kit) as host:
        refused, outcome = await failure(host, "x_refuse"), await failure(host, "x_upstream")
    assert (str(refused.error), refused.error_id, outcome.error_id) == ("No.", None, None)
    assert CANARY not in everything(outcome)
    (record,) = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert CANARY in record.getMessage()
    assert "x_upstream" in record.getMessage()
    assert not record.exc_info


async def test_middleware_sees_masked_errors_as_exceptions() -> None:
    seen: list[BaseException] = []

    async def handle(call: Call, call_next: CallNext) -> Outcome:
        try:
            return await call_next(call)
        except BaseException as error:
            seen.append(error)
            raise

    kit = Toolkit("x")
    kit.tool(crash)
    async with make_host(kit, plugins={"m": plugin_of(middleware=[handle])}) as host:
        outcome = await failure(host, "x_crash")
    (error,) = seen
    assert error is outcome.error
    assert CANARY not in str(error)
