"""Failures: unexpected exceptions stay in the log under an id, and the log entry has the author's code alone."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import (
    Context,
    ErrorKind,
    FatalToolError,
    NotFoundError,
    RetryableToolError,
    ToolDefinitionError,
    ToolExecutionError,
    UpstreamError,
)
from pegboard.errors import AuthorizationError
from pegboard.errors.tracebacks import linked_exceptions
from pegboard.types import Failure
from tests.host.hosting import failure, kit_of, make_host, passing, plugin_of

CANARY = "canary-7f3a91"


async def failed(function: Callable[..., Any]) -> Failure:
    """Return the failure of the tool `x_go`."""
    plugins = {"m": plugin_of(middleware=[passing])}
    async with make_host(kit_of(function, name="x_go"), plugins=plugins) as host:
        return await failure(host, "x_go")


def everything(outcome: Failure) -> str:
    """Return all that a protocol could send of a failure."""
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
    raise Leaky


def wrap() -> str:
    try:
        return crash()
    except Leaky as error:
        raise ToolExecutionError("The service is not there.", f"it said {CANARY}") from error


def opaque() -> Any:
    return type(CANARY, (), {})()


@pytest.mark.requirement("SEC-06")
@pytest.mark.parametrize("function", [crash, wrap, opaque], ids=lambda function: function.__name__)
async def test_a_canary_appears_in_the_log_and_not_in_the_outcome(
    function: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    outcome, other = await failed(function), await failed(function)
    assert CANARY not in everything(outcome)
    assert "Leaky" not in everything(outcome)
    record, _ = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert CANARY in caplog.text
    assert outcome.error_id
    assert outcome.error_id != other.error_id
    assert outcome.error_id in record.getMessage()
    assert "x_go" in record.getMessage()


def upstream() -> str:
    raise UpstreamError("The service refused.", f"url: https://example.com/?key={CANARY}", status_code=500)


def refuse() -> str:
    raise ToolExecutionError("No.")


@pytest.mark.requirement("SEC-06")
async def test_errors_on_purpose_are_logged_only_for_their_developer_message(caplog: pytest.LogCaptureFixture) -> None:
    refused, outcome = await failed(refuse), await failed(upstream)
    assert (str(refused.error), refused.error_id, outcome.error_id) == ("No.", None, None)
    assert CANARY not in everything(outcome)
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert CANARY in record.getMessage()
    assert "x_go" in record.getMessage()
    assert not record.exc_info


@pytest.mark.parametrize(("error", "status"), [(NotFoundError, 404), (AuthorizationError, 403)])
async def test_a_mistake_of_the_caller_is_logged_in_one_line(
    error: Callable[[str], Exception], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse_it() -> str:
        raise error("There is no issue 7.")

    outcome = await failed(refuse_it)
    assert isinstance(outcome.error, ToolExecutionError)
    assert (outcome.error.kind, outcome.error.status_code) == (ErrorKind.TOOL_RUNTIME_BAD_INPUT_VALUE, status)
    (record,) = caplog.records
    assert "There is no issue 7." in record.getMessage()
    assert (outcome.error_id, record.exc_info) == (None, None)


def fail_for_the_log() -> str:
    raise FatalToolError("No.", "the disk is full")


def caused() -> str:
    try:
        return str(int("x"))
    except ValueError as error:
        raise FatalToolError("No.") from error


def chained(context: Context) -> str:
    try:
        return context.get_secret("NONE")
    except ToolDefinitionError as error:
        raise RuntimeError("no secret") from error


def functions_in(record: logging.LogRecord) -> set[str]:
    """Return the names of the functions in the tracebacks of a record."""
    assert record.exc_info
    assert record.exc_info[1] is not None
    linked = linked_exceptions(record.exc_info[1])
    return {frame.name for error in linked for frame in traceback.extract_tb(error.__traceback__)}


@pytest.mark.parametrize(
    ("function", "words"),
    [(fail_for_the_log, "the disk is full"), (caused, "No."), (crash, "Leaky"), (chained, "RuntimeError")],
)
async def test_the_traceback_in_the_log_has_the_authors_code_alone(
    function: Callable[..., Any], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    await failed(function)
    (record,) = caplog.records
    assert words in record.getMessage()
    assert functions_in(record) == {function.__name__}


async def test_at_the_level_debug_the_traceback_has_the_frames_of_the_host(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "pegboard")
    await failed(crash)
    (record,) = [record for record in caplog.records if record.exc_info]
    assert functions_in(record) > {"crash", "invoke"}


def verbose() -> str:
    raise RetryableToolError("x" * 20_000, additional_prompt_content="y" * 20_000)


async def test_the_texts_of_an_error_have_a_limit() -> None:
    error = (await failed(verbose)).error
    assert isinstance(error, RetryableToolError)
    assert error.message == "x" * 16_384 + " ... (3616 more characters)"
    assert error.additional_prompt_content == "y" * 16_384 + " ... (3616 more characters)"
