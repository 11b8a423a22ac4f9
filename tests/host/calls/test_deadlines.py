"""Time limits: the call ends, the function is told, nothing that it does can hold the call, and the log says so."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any

import pytest

from pegboard import Context, ErrorKind, Host, ToolAnnotations, Toolkit, ToolResult
from pegboard.calls import deadlines, threads
from pegboard.plugin import ClientTimeoutError, ToolTimeoutError
from pegboard.types import Call, Client, Failure
from tests.host.hosting import WAIT, call, failure, make_host, until, value

SHORT = 0.01
"""A limit that is over at once. No test needs anything to happen before it is."""


@asynccontextmanager
async def running(kit: Toolkit, **more: Any) -> AsyncIterator[Host]:
    async with make_host(kit, **more) as host:
        yield host


def is_late(outcome: Failure) -> ToolTimeoutError:
    """The error, which must be that of the time limit."""
    assert type(outcome.error) is ToolTimeoutError, outcome
    return outcome.error


# --- async functions


async def test_a_function_that_waits_for_too_long_is_cancelled_and_cleans_up(caplog: pytest.LogCaptureFixture) -> None:
    kit, seen = Toolkit("x"), []

    @kit.tool(timeout=SHORT)
    async def wait(context: Context) -> str:
        """Wait for what never comes."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append(context.cancelled)
        return "came"

    async with running(kit) as host:
        error = is_late(await failure(host, "x_wait"))
    assert seen == [True]
    assert error.message == "It took longer than 0.01 seconds and was given up."
    assert "Ask for less" in (error.additional_prompt_content or "")
    assert (error.status_code, error.can_retry, error.kind) == (504, False, ErrorKind.TOOL_RUNTIME_FATAL)
    assert "x_wait took longer than its limit of 0.01 seconds" in caplog.text


@pytest.mark.parametrize("hints", [ToolAnnotations(read_only=True), ToolAnnotations(idempotent=True)])
async def test_what_can_be_repeated_may_be_tried_again(hints: ToolAnnotations) -> None:
    kit = Toolkit("x")

    @kit.tool(timeout=SHORT, annotations=hints)
    async def wait() -> None:
        """Wait for what never comes."""
        await asyncio.Event().wait()

    async with running(kit) as host:
        error = is_late(await failure(host, "x_wait"))
    assert (error.can_retry, error.kind) == (True, ErrorKind.TOOL_RUNTIME_RETRY)


async def stubborn_cancelled() -> str:
    """Take no cancellation."""
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def stubborn_whatever() -> str:
    """Take nothing at all, not even being closed: only the second time, when it is thrown away."""
    refused = False
    while True:
        try:
            await asyncio.Event().wait()
        except GeneratorExit:
            if refused:
                raise
            refused = True
        except BaseException:  # noqa: BLE001 - that is the point
            pass


async def stubborn_cleanup() -> str:
    """Clean up for ever."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.Event().wait()
    return "cleaned up"


async def stubborn_accident() -> str:
    """Answer a cancellation with an accident."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        raise ValueError("accident") from None
    return "waited"


async def stubborn_return() -> str:
    """Answer a cancellation with a result."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "half of it"
    return "waited"


@pytest.mark.parametrize(
    "function", [stubborn_cancelled, stubborn_whatever, stubborn_cleanup, stubborn_accident, stubborn_return]
)
async def test_no_function_can_hold_its_call(function: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "MAX_CLEANUP_SECONDS", SHORT)
    kit = Toolkit("x")
    kit.tool(name="go", timeout=SHORT)(function)

    @kit.tool
    async def fine() -> str:
        """Be fine."""
        await asyncio.sleep(0)
        return "fine"

    async with running(kit) as host:
        task = asyncio.current_task()
        assert task is not None
        for _ in range(2):
            async with asyncio.timeout(WAIT):
                is_late(await failure(host, "x_go"))
            assert task.cancelling() == 0
        assert await value(host, "x_fine") == "fine"


async def test_what_a_function_uses_of_asyncio_works_under_a_limit() -> None:
    kit = Toolkit("x")

    async def give(number: int) -> int:
        await asyncio.sleep(0)
        return number

    @kit.tool(timeout=WAIT)
    async def gather() -> list[Any]:
        """Use timeouts, groups and tasks."""
        found: list[Any] = [asyncio.current_task() is not None]
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            found.append("timeout")
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.Event().wait())
                await give(1)
                raise KeyError
        except* KeyError:
            found.append("group")
        return [*found, *await asyncio.gather(give(1), give(2)), await asyncio.to_thread(lambda: 3)]

    async with running(kit) as host:
        assert await value(host, "x_gather") == [True, "timeout", "group", 1, 2, 3]


async def test_a_call_in_time_leaves_no_clock_behind() -> None:
    kit = Toolkit("x")

    @kit.tool(timeout=WAIT)
    async def fine(fail: bool) -> str:
        """Be fine, or fail."""
        await asyncio.sleep(0)
        if fail:
            raise ValueError
        return "fine"

    async with running(kit) as host:
        assert await value(host, "x_fine", {"fail": False}) == "fine"
        await failure(host, "x_fine", {"fail": True})
        (queue,) = host._runtime.deadlines._queues.values()
        assert not queue.clocks


async def test_calls_under_one_limit_share_a_timer_and_end_in_their_order() -> None:
    kit, ended = Toolkit("x"), []

    @kit.tool(timeout=SHORT * 5)
    async def wait(name: str) -> None:
        """Wait for what never comes."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    names = [f"{number}" for number in range(100)]
    async with running(kit, blocked_loop_seconds=0) as host:
        timers = 0
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def counted(*arguments: Any, **keywords: Any) -> asyncio.TimerHandle:
            nonlocal timers
            timers += 1
            return call_at(*arguments, **keywords)

        tasks = [asyncio.create_task(failure(host, "x_wait", {"name": name})) for name in names]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "call_at", counted)
            await asyncio.sleep(0)
            assert timers == 1
        for outcome in await asyncio.gather(*tasks):
            is_late(outcome)
    assert ended == names


async def test_a_cancelled_call_is_cancelled_and_not_late() -> None:
    kit, began = Toolkit("x"), asyncio.Event()

    @kit.tool(timeout=WAIT)
    async def wait() -> None:
        """Wait for what never comes."""
        began.set()
        await asyncio.Event().wait()

    async with running(kit) as host:
        task = asyncio.create_task(call(host, "x_wait"))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_plain_wrapper_around_an_async_function_is_limited_as_well() -> None:
    kit = Toolkit("x")

    async def wait() -> None:
        """Wait for what never comes."""
        await asyncio.Event().wait()

    @kit.tool(timeout=SHORT)
    @wraps(wait)
    def wrapped() -> Any:
        return wait()

    async with running(kit) as host:
        is_late(await failure(host, "x_wait"))


@pytest.mark.parametrize("early", [True, False], ids=["before it returns", "after it returned"])
async def test_what_nobody_will_await_any_more_is_put_away(early: bool, recwarn: pytest.WarningsRecorder) -> None:
    kit, go, began, made = Toolkit("x"), threading.Event(), threading.Event(), threading.Event()

    async def wait() -> None:
        """Wait for what never comes."""

    @kit.tool(timeout=0)
    @wraps(wait)
    def wrapped() -> Any:
        began.set()
        go.wait(WAIT)
        waiting = wait()
        made.set()
        return waiting

    async with running(kit) as host:
        task = asyncio.create_task(call(host, "x_wait"))
        await until(began.is_set)
        if early:
            task.cancel()
            await asyncio.wait([task])
        go.set()
        made.wait(WAIT)  # the loop does not hear of it before
        while host.busy_threads:
            pass
        task.cancel()
        await asyncio.wait([task])
        gc.collect()
    assert [str(one.message) for one in recwarn if "never awaited" in str(one.message)] == []


# --- whose limit it is


@pytest.mark.parametrize(
    ("configured", "own", "late"), [(SHORT, None, True), (0, SHORT, True), (SHORT, 0, False), (0, None, False)]
)
async def test_a_tools_own_limit_comes_before_the_hosts(configured: float, own: float | None, late: bool) -> None:
    kit, go = Toolkit("x"), asyncio.Event()

    @kit.tool(timeout=own)
    async def wait() -> str:
        """Wait."""
        await go.wait()
        return "waited"

    @kit.tool(timeout=SHORT)
    async def last() -> None:
        """Wait for what never comes."""
        await asyncio.Event().wait()

    async with running(kit, tool_timeout=configured) as host:
        waiting = asyncio.create_task(call(host, "x_wait"))
        await asyncio.sleep(0)
        for _ in range(2):
            is_late(await failure(host, "x_last"))  # it began later, so what has no longer limit is over
        go.set()
        assert isinstance(await waiting, Failure) is late


@pytest.mark.parametrize("place", ["resource", "prompt", "completion"])
async def test_resources_prompts_and_completions_have_the_hosts_limit(place: str) -> None:
    kit = Toolkit("x")

    @kit.resource("docs://slow")
    async def slow() -> str:
        await asyncio.Event().wait()
        return "slow"

    @kit.prompt
    async def ask(word: str) -> str:
        """Ask."""
        await asyncio.Event().wait()
        return word

    @kit.completion(ask, "word")
    async def words(typed: str) -> list[str]:
        await asyncio.Event().wait()
        return [typed]

    completion = {"ref": {"type": "ref/prompt", "name": "x_ask"}, "argument": {"name": "word", "value": ""}}
    calls = {
        "resource": Call("resources/read", {"uri": "docs://slow"}),
        "prompt": Call("prompts/get", {"name": "x_ask", "arguments": {"word": "a"}}),
        "completion": Call("completion/complete", completion),
    }
    async with running(kit, tool_timeout=SHORT) as host:
        outcome = await host.dispatch(calls[place])
    assert isinstance(outcome, Failure)
    assert is_late(outcome).can_retry


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"timeout": -1}, "its timeout is -1"),
        ({"timeout": "soon"}, "its timeout is 'soon'"),
        ({"timeout": True}, "its timeout is True"),
        ({"timeout": float("nan")}, "its timeout is nan"),
        ({"timeout": float("inf")}, "its timeout is inf"),
        ({"timeout": 1, "inline": True}, "nothing can interrupt"),
        ({"max_result": -1}, "its max_result is -1"),
        ({"max_result": 1.5}, "its max_result is 1.5"),
        ({"max_result": True}, "its max_result is True"),
    ],
)
def test_a_limit_that_is_none_costs_its_tool(options: Any, words: str) -> None:
    kit = Toolkit("x")

    @kit.tool(**options)
    def bad() -> None:
        """Be bad."""

    @kit.tool(inline=True, timeout=0, max_result=0)
    def good() -> None:
        """Be good."""

    host = make_host(kit)
    assert list(host.load().tools) == ["x_good"]
    (problem,) = host.problems
    assert words in str(problem)


# --- calls within calls, and questions


async def test_a_call_within_a_call_has_a_limit_of_its_own() -> None:
    kit = Toolkit("x")

    @kit.tool(timeout=SHORT)
    async def inner() -> None:
        """Wait for what never comes."""
        await asyncio.Event().wait()

    @kit.tool(timeout=WAIT)
    async def outer(context: Context) -> str:
        """Call the other."""
        try:
            await context.tools.call("x_inner")
        except TimeoutError as error:
            return type(error).__name__
        return "in time"

    async with running(kit) as host:
        assert await value(host, "x_outer") == "ToolTimeoutError"


async def test_the_limit_of_the_outer_call_ends_the_inner() -> None:
    kit, ended = Toolkit("x"), []

    @kit.tool(timeout=WAIT)
    async def inner() -> None:
        """Wait for what never comes."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("inner")

    @kit.tool(timeout=SHORT)
    async def outer(context: Context) -> None:
        """Call the other."""
        await context.tools.call("x_inner")

    async with running(kit) as host:
        error = is_late(await failure(host, "x_outer"))
    assert ended == ["inner"]
    assert "0.01 seconds" in error.message


class Person:
    """Answers a question when the test lets them."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def ask(self, method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        self.asked.set()
        await self.go.wait()
        return {"action": "accept", "content": {"value": "blue"}}


def asking_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool(timeout=SHORT)
    async def ask(context: Context, then_wait: bool, first: bool) -> str:
        """Ask for a colour."""
        if not first:
            await asyncio.sleep(0)  # the clock has been started
        answer = await context.ui.elicit("Which?", str)
        if then_wait:
            await asyncio.Event().wait()
        return str(answer.content)

    @kit.tool(timeout=SHORT)
    async def have_asked(context: Context, then_wait: bool, first: bool) -> str:
        """Have another ask."""
        return str(await context.tools.call("x_ask", {"then_wait": then_wait, "first": first}))

    @kit.tool(timeout=SHORT)
    async def last() -> None:
        """Wait for what never comes."""
        await asyncio.Event().wait()

    return kit


@pytest.mark.parametrize("first", [True, False], ids=["at once", "later"])
@pytest.mark.parametrize("name", ["x_ask", "x_have_asked"])
async def test_time_stands_still_while_the_client_is_asked_and_runs_on_then(name: str, first: bool) -> None:
    client = Client("c", revision="2025-11-25", capabilities={"elicitation": {"form": {}}})
    async with running(asking_kit()) as host:
        for then_wait in (False, True):
            person = Person()
            arguments = {"then_wait": then_wait, "first": first}
            task = asyncio.create_task(call(host, name, arguments, client=client, ask=person.ask))
            await person.asked.wait()
            for _ in range(2):
                is_late(await failure(host, "x_last"))  # it began later, under the same limit
            assert not task.done()
            person.go.set()
            async with asyncio.timeout(WAIT):
                outcome = await task
            if then_wait:
                assert isinstance(outcome, Failure)
                is_late(outcome)
            else:
                assert isinstance(outcome, ToolResult)
                assert outcome.value == "blue"


async def test_a_client_that_does_not_answer_is_no_slow_tool() -> None:
    class Silent(Person):
        async def ask(self, method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
            raise ClientTimeoutError("The client did not answer.")

    client = Client("c", revision="2025-11-25", capabilities={"elicitation": {"form": {}}})
    async with running(asking_kit()) as host:
        outcome = await failure(host, "x_ask", {"then_wait": False, "first": True}, client=client, ask=Silent().ask)
    assert type(outcome.error) is ClientTimeoutError


# --- threads


class Held:
    """A tool that holds its thread until the test lets it go."""

    def __init__(self, **options: Any) -> None:
        self.kit = Toolkit("x")
        self.go = threading.Event()
        self.seen: list[bool] = []
        self.began = 0

        @self.kit.tool(**options)
        def hold(context: Context) -> str:
            """Hold a thread."""
            self.began += 1
            self.go.wait(WAIT)
            self.seen.append(context.cancelled)
            return "held"


async def test_a_call_in_a_thread_ends_and_its_function_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    held = Held(timeout=SHORT)
    async with running(held.kit) as host:
        is_late(await failure(host, "x_hold"))
        assert host.busy_threads == 1
        assert host._runtime.threads.given_up == 1
        assert "x_hold took longer than its limit of 0.01 seconds; nothing can stop it" in caplog.text
        held.go.set()
        await until(lambda: host.busy_threads == 0)
        assert held.seen == [True]
        await until(lambda: "x_hold has ended after" in caplog.text)


async def test_a_call_that_finds_no_thread_has_done_nothing_and_may_be_made_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    held = Held(timeout=SHORT)
    async with running(held.kit, threads=1) as host:
        is_late(await failure(host, "x_hold"))
        error = is_late(await failure(host, "x_hold"))
        assert held.began == 1
        assert error.message == "The server is busy: this could not begin within 0.01 seconds."
        assert (error.can_retry, error.kind) == (True, ErrorKind.TOOL_RUNTIME_RETRY)
        assert "x_hold found no thread" in caplog.text
        held.go.set()
        await until(lambda: host.busy_threads == 0)
        assert held.began == 1


async def test_a_pool_that_starves_says_so_once_and_who_holds_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "LONG_WAIT_SECONDS", 0.0)
    held = Held(timeout=0)
    async with running(held.kit, threads=2) as host:
        tasks = [asyncio.create_task(call(host, "x_hold")) for _ in range(5)]
        await until(lambda: "waited" in caplog.text)
        tasks[0].cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        (record,) = [record for record in caplog.records if "waited" in record.getMessage()]
        assert "all 2 are busy, 0 with what outlived its call: x_hold for 0 s, x_hold for 0 s" in record.getMessage()
        held.go.set()
        for outcome in await asyncio.gather(*tasks[1:]):
            assert isinstance(outcome, ToolResult)
        await until(lambda: host.busy_threads == 0)


async def test_a_pool_that_is_busy_for_a_moment_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    held = Held(timeout=0)
    async with running(held.kit, threads=1) as host:
        tasks = [asyncio.create_task(call(host, "x_hold")) for _ in range(3)]
        await until(lambda: held.began == 1)
        held.go.set()
        await asyncio.gather(*tasks)
    assert caplog.records == []
