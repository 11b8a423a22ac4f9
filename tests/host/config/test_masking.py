"""What nobody raised on purpose stays in the log, under an id that the answer carries."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import Context, ToolExecutionError, Toolkit, ToolResult, UpstreamError
from pegboard.types import Call, CallNext, Failure, Listing, Outcome
from tests.host.hosting import call, failure, make_host, plugin_of, value

CANARY = "canary-7f3a91"


def everything(outcome: Failure) -> str:
    """All that a protocol could send of a failure."""
    error = outcome.error
    seen: dict[str, Any] = {"text": str(error), "args": error.args, "type": type(error).__name__}
    if hasattr(error, "to_payload"):
        payload = error.to_payload()
        del payload["developer_message"]  # stays in the log; protocols are tested for that
        seen |= payload
    return repr(seen)


class Leaky(Exception):
    """An exception of a library, full of things that no stranger may see."""

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


async def crash_async() -> str:
    """Crash on the loop."""
    raise Leaky


def wrap() -> str:
    """Raise on purpose, with an accident as its cause."""
    try:
        crash()
    except Leaky as error:
        raise ToolExecutionError("The service is not there.", f"it said {CANARY}") from error
    return ""


def upstream() -> str:
    """Raise with a message for developers."""
    raise UpstreamError("The service refused.", f"url: https://example.com/?key={CANARY}", status_code=500)


@pytest.mark.requirement("SEC-06")
@pytest.mark.parametrize("function", [crash, crash_below, crash_async, wrap], ids=lambda one: one.__name__)
@pytest.mark.parametrize("inline", [False, True], ids=["", "inline"])
async def test_a_canary_appears_in_the_log_and_not_in_the_outcome(
    function: Callable[..., Any], inline: bool, caplog: pytest.LogCaptureFixture
) -> None:
    kit = Toolkit("x")
    kit.tool(name="go", inline=inline)(function)
    async with make_host(kit) as host:
        outcome = await failure(host, "x_go", {})
    assert CANARY not in everything(outcome)
    assert "Leaky" not in everything(outcome)
    assert outcome.error_id
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert CANARY in caplog.text
    assert outcome.error_id in record.getMessage()
    assert "x_go" in record.getMessage()
    assert record.exc_info


@pytest.mark.requirement("SEC-06")
async def test_a_failure_of_a_service_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("x")
    kit.tool(name="go")(upstream)
    async with make_host(kit) as host:
        outcome = await failure(host, "x_go", {})
    assert CANARY not in everything(outcome)
    assert outcome.error_id is None
    (record,) = [one for one in caplog.records if CANARY in one.getMessage()]
    assert "x_go" in record.getMessage()
    assert not record.exc_info


async def test_what_was_raised_on_purpose_without_more_to_tell_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("x")

    @kit.tool
    def refuse() -> str:
        """Refuse."""
        raise ToolExecutionError("No.")

    async with make_host(kit) as host:
        outcome = await failure(host, "x_refuse")
    assert (str(outcome.error), outcome.error_id) == ("No.", None)
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


async def test_every_failure_has_an_id_of_its_own() -> None:
    kit = Toolkit("x")
    kit.tool(crash)
    async with make_host(kit) as host:
        ids = {(await failure(host, "x_crash")).error_id for _ in range(20)}
    assert len(ids) == 20


async def test_what_a_result_leaks_when_it_breaks_its_promise_is_masked(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("x")

    @kit.tool
    def number() -> int:
        """Promise a number."""
        return CANARY  # type: ignore[return-value]  # that is the point of it

    @kit.tool
    def opaque() -> Any:
        """Give an object."""
        return type(CANARY, (), {})()

    async with make_host(kit) as host:
        for name in ("x_number", "x_opaque"):
            outcome = await failure(host, name)
            assert CANARY not in everything(outcome)
            assert outcome.error_id
            assert outcome.error_id in caplog.text
    assert CANARY in caplog.text


async def test_resources_and_prompts_are_masked_as_well(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("x")
    kit.resource("x://crash")(crash)
    kit.prompt(name="crash")(crash)
    async with make_host(kit) as host:
        for one in (Call("resources/read", {"uri": "x://crash"}), Call("prompts/get", {"name": "x_crash"})):
            outcome = await host.dispatch(one)
            assert isinstance(outcome, Failure)
            assert CANARY not in everything(outcome)
            assert outcome.error_id
            assert outcome.error_id in caplog.text


# --- middleware


def around(handle: Callable[[Call, CallNext], Any]) -> dict[str, Any]:
    return {"m": plugin_of(middleware=[handle])}


def working_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    def work(word: str = "done") -> str:
        """Work."""
        return word

    kit.tool(crash)
    return kit


@pytest.mark.parametrize(
    "error",
    [Leaky(), SystemExit(CANARY), KeyboardInterrupt(CANARY), BaseExceptionGroup(CANARY, [SystemExit(3)])],
    ids=repr,
)
async def test_middleware_that_raises_is_masked_and_loses_that_call_alone(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    broken = [True]

    async def handle(call: Call, call_next: CallNext) -> Outcome:
        if broken:
            broken.pop()
            raise error
        return await call_next(call)

    async with make_host(working_kit(), plugins=around(handle)) as host:
        outcome = await failure(host, "x_work")
        assert await value(host, "x_work") == "done"
    assert CANARY not in everything(outcome)
    assert outcome.error.message == "Internal error"
    assert outcome.error_id
    assert outcome.error_id in caplog.text


async def test_middleware_sees_typed_errors_as_exceptions_already_masked() -> None:
    seen: list[BaseException] = []

    async def handle(call: Call, call_next: CallNext) -> Outcome:
        try:
            return await call_next(call)
        except BaseException as error:
            seen.append(error)
            raise

    async with make_host(working_kit(), plugins=around(handle)) as host:
        outcome = await failure(host, "x_crash")
    (error,) = seen
    assert error is outcome.error
    assert CANARY not in str(error)


async def test_middleware_may_answer_change_and_replace() -> None:
    async def handle(call: Call, call_next: CallNext) -> Outcome:
        if call.method == "tools/list":
            return Listing("tools", ())
        if call.params["name"] == "x_cached":
            return ToolResult("from the cache")
        params = {**call.params, "arguments": {"word": "changed"}}
        outcome = await call_next(Call(call.method, params))
        assert isinstance(outcome, ToolResult)
        return ToolResult(f"{outcome.value}!")

    async with make_host(working_kit(), plugins=around(handle)) as host:
        assert await value(host, "x_cached") == "from the cache"
        assert await value(host, "x_work") == "changed!"
        listing = await host.dispatch(Call("tools/list"))
        assert isinstance(listing, Listing)
        assert listing.items == ()


async def test_middleware_may_turn_an_error_into_an_answer_and_an_answer_into_an_error() -> None:
    async def handle(call: Call, call_next: CallNext) -> Outcome:
        try:
            await call_next(call)
        except ToolExecutionError:
            return ToolResult("mended")
        raise ToolExecutionError("spoilt")

    async with make_host(working_kit(), plugins=around(handle)) as host:
        assert await value(host, "x_crash") == "mended"
        assert (await failure(host, "x_work")).error.message == "spoilt"


@pytest.mark.requirement("SEC-05")
async def test_a_name_that_a_caller_made_up_does_not_break_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def handle(call: Call, call_next: CallNext) -> Outcome:
        raise Leaky

    async with make_host(working_kit(), plugins=around(handle)) as host:
        await call(host, "x\nERROR pegboard: forged")
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert "\nERROR pegboard: forged" not in record.getMessage()


async def test_the_context_is_no_way_out_for_undeclared_secrets() -> None:
    kit = Toolkit("x")

    @kit.tool
    def peek(context: Context) -> str:
        """Look for anything secret."""
        return context.get_secret("HOME")

    async with make_host(kit) as host:
        assert "HOME" not in everything(await failure(host, "x_peek"))
