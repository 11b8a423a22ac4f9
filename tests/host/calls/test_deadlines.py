"""Time limits: the call ends, the function is cancelled and cannot hold the call, and the log says so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import pytest

from pegboard import Context, ErrorKind, ToolAnnotations, ToolExecutionError, Toolkit, ToolResult
from pegboard.calls import deadlines
from pegboard.errors import ToolTimeoutError
from pegboard.types import Call, Client, Failure, Outcome
from tests.host.hosting import WAIT, call, failure, kit_of, make_host, never, until

SHORT = 0.01
"""A limit that is over at once. No test needs anything to happen before it is."""


def timeout_of(outcome: Outcome) -> ToolTimeoutError:
    """Return the error, which must be that of the time limit."""
    assert isinstance(outcome, Failure), outcome
    assert type(outcome.error) is ToolTimeoutError, outcome
    return outcome.error


@pytest.mark.parametrize("repeatable", [False, True])
async def test_a_function_that_waits_too_long_is_cancelled_and_cleans_up(
    repeatable: bool, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[bool] = []

    async def wait(context: Context) -> None:
        try:
            await never()
        finally:
            await asyncio.sleep(0)
            seen.append(context.cancelled)

    kit = kit_of(wait, timeout=SHORT, annotations=ToolAnnotations(idempotent=repeatable))
    async with make_host(kit) as host:
        error = timeout_of(await call(host, "wait"))
    assert seen == [True]
    assert error.message == "It took longer than 0.01 seconds and was given up."
    assert "Ask for less" in (error.additional_prompt_content or "")
    kind = ErrorKind.TOOL_RUNTIME_RETRY if repeatable else ErrorKind.TOOL_RUNTIME_FATAL
    assert (error.status_code, error.can_retry, error.kind) == (504, repeatable, kind)
    assert "wait took longer than its limit of 0.01 seconds" in caplog.text


async def refuses_cancellation() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await never()


async def refuses_everything() -> None:
    """Refuse to close once; the second time it is thrown away."""
    refused = False
    while True:
        try:
            await never()
        except GeneratorExit:
            if refused:
                raise
            refused = True
        except BaseException:  # noqa: BLE001 - that is the point
            pass


async def returns_when_cancelled() -> str:
    with suppress(asyncio.CancelledError):
        await never()
    return "half of it"


@wraps(never)
def wrapper() -> Any:
    return never()


@pytest.mark.parametrize("function", [refuses_cancellation, refuses_everything, returns_when_cancelled, wrapper])
async def test_no_function_can_hold_its_call(function: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "MAX_CLEANUP_SECONDS", SHORT)
    async with make_host(kit_of(function, name="go", timeout=SHORT)) as host:
        task = asyncio.current_task()
        assert task is not None
        for _ in range(2):
            async with asyncio.timeout(WAIT):
                timeout_of(await call(host, "go"))
            assert task.cancelling() == 0
            await asyncio.sleep(0)


async def test_asyncio_works_under_a_limit_and_no_clock_is_left() -> None:
    async def use() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                await never()
            raise AssertionError
        with suppress(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(never())
                await asyncio.sleep(0)
                raise KeyError
        raise ToolExecutionError(str(await asyncio.gather(asyncio.sleep(0, 1), asyncio.to_thread(lambda: 2))))

    async with make_host(kit_of(use, timeout=WAIT)) as host:
        assert (await failure(host, "use")).error.message == "[1, 2]"
        (queue,) = host._runtime.deadlines._queues.values()
        assert not queue.clocks


@pytest.mark.parametrize(
    ("configured", "own", "late"), [(SHORT, None, True), (0, SHORT, True), (SHORT, 0, False), (0, None, False)]
)
async def test_a_tools_own_limit_comes_before_the_hosts(configured: float, own: float | None, late: bool) -> None:
    go = asyncio.Event()

    async def wait() -> str:
        await go.wait()
        return "waited"

    kit = kit_of(wait, timeout=own)
    kit.tool(timeout=SHORT, name="last")(never)
    async with make_host(kit, tool_timeout=configured) as host:
        waiting = asyncio.create_task(call(host, "wait"))
        await asyncio.sleep(0)
        for _ in range(2):
            timeout_of(await call(host, "last"))  # it began later, so every limit of this length is over
        go.set()
        assert isinstance(await waiting, Failure) is late


async def test_resources_prompts_and_completions_have_the_hosts_limit() -> None:
    kit = Toolkit("x")

    async def slow(word: str) -> Any:
        """Wait."""
        await never()

    kit.resource("docs://slow", name="slow")(never)
    kit.prompt(completions={"word": slow})(slow)
    completion = {"ref": {"type": "ref/prompt", "name": "x_slow"}, "argument": {"name": "word", "value": ""}}
    async with make_host(kit, tool_timeout=SHORT) as host:
        for made in (
            Call("resources/read", {"uri": "docs://slow"}),
            Call("prompts/get", {"name": "x_slow", "arguments": {"word": "a"}}),
            Call("completion/complete", completion),
        ):
            assert timeout_of(await host.dispatch(made)).can_retry


async def test_a_nested_call_ends_with_the_limit_of_the_outer_call() -> None:
    ended: list[str] = []

    async def inner() -> None:
        try:
            await never()
        finally:
            ended.append("inner")

    async def outer(context: Context) -> None:
        await context.tools.call("inner")

    kit = kit_of(inner, timeout=WAIT)
    kit.tool(description="x", timeout=SHORT)(outer)
    async with make_host(kit) as host:
        assert "0.01 seconds" in timeout_of(await call(host, "outer")).message
    assert ended == ["inner"]


async def test_the_clock_is_paused_while_the_client_is_asked() -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def ask(context: Context, then_wait: bool) -> str:
        """Ask for a colour after the clock has been started."""
        await asyncio.sleep(0)
        answer = await context.ui.elicit("Which?", str)
        if then_wait:
            await never()
        return str(answer.content)

    async def have_asked(context: Context, then_wait: bool) -> str:
        return str(await context.tools.call("ask", {"then_wait": then_wait}))

    async def answer(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        asked.set()
        await answered.wait()
        return {"action": "accept", "content": {"value": "blue"}}

    client = Client("c", revision="2025-11-25", capabilities={"elicitation": {"form": {}}})
    async with make_host(kit_of(ask, have_asked, never, timeout=SHORT)) as host:
        for then_wait in (False, True):
            asked.clear()
            answered.clear()
            task = asyncio.create_task(call(host, "have_asked", {"then_wait": then_wait}, client=client, ask=answer))
            await asked.wait()
            for _ in range(2):
                timeout_of(await call(host, "never"))  # it began later, under the same limit
            assert not task.done()
            answered.set()
            async with asyncio.timeout(WAIT):
                outcome = await task
            if then_wait:
                timeout_of(outcome)
            else:
                assert outcome == ToolResult("blue")


async def test_a_function_in_a_thread_outlives_its_call_and_the_next_has_none(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    go, seen = threading.Event(), list[bool | str]()

    def hold(context: Context) -> None:
        seen.append("began")
        go.wait(WAIT)
        seen.append(context.cancelled)

    async with make_host(kit_of(hold, timeout=SHORT), threads=1) as host:
        timeout_of(await call(host, "hold"))
        assert (host.busy_threads, host._runtime.threads.given_up) == (1, 1)
        assert "hold took longer than its limit of 0.01 seconds: its thread cannot be stopped" in caplog.text
        error = timeout_of(await call(host, "hold"))
        assert error.message == "The server is busy: the call could not start within 0.01 seconds."
        assert (error.can_retry, error.kind) == (True, ErrorKind.TOOL_RUNTIME_RETRY)
        assert "hold could not start within" in caplog.text
        go.set()
        await until(lambda: host.busy_threads == 0)
        assert seen == ["began", True]
        await until(lambda: "hold has ended after" in caplog.text)
