"""One call of one function: whatever it does stays inside this call, and the next one works."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import itertools
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard import (
    Context,
    FatalToolError,
    Host,
    NotFoundError,
    PromptMessage,
    PromptResult,
    ResourceContents,
    ResourceResult,
    RetryableToolError,
    ToolExecutionError,
    Toolkit,
    ToolResult,
    UpstreamRateLimitError,
    current_context,
)
from pegboard.plugin import ProtocolError, ServerError, ToolOutputError
from pegboard.types import Call, Failure
from tests.host.hosting import WAIT, call, failure, make_host, until, value

CANARY = "canary-7f3a91"
MODES = ("thread", "async", "inline")


OUTBURSTS: dict[str, Callable[[], BaseException]] = {
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": lambda: KeyboardInterrupt(CANARY),
    "StopIteration": lambda: StopIteration(CANARY),
    "StopAsyncIteration": lambda: StopAsyncIteration(CANARY),
    "GeneratorExit": lambda: GeneratorExit(CANARY),
    "CancelledError": lambda: asyncio.CancelledError(CANARY),
    "RecursionError": lambda: RecursionError(CANARY),
    "MemoryError": lambda: MemoryError(CANARY),
    "ExceptionGroup": lambda: ExceptionGroup(CANARY, [ValueError(CANARY)]),
    "BaseExceptionGroup": lambda: BaseExceptionGroup(CANARY, [SystemExit(3)]),
    "TimeoutError": lambda: TimeoutError(CANARY),
    "a subclass of BaseException": lambda: type("Odd", (BaseException,), {})(CANARY),
    "an error of the host": lambda: ServerError(CANARY),
}


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    def thread(kind: str) -> str:
        """Raise in a thread."""
        if kind == "nothing":
            return "fine"
        make = OUTBURSTS[kind]
        raise make()

    @kit.tool(name="async")
    async def on_the_loop(kind: str) -> str:
        """Raise on the loop."""
        return thread(kind)

    @kit.tool
    async def later(kind: str) -> str:
        """Raise on the loop after a turn of it."""
        await asyncio.sleep(0)
        return thread(kind)

    @kit.tool(inline=True)
    def inline(kind: str) -> str:
        """Raise inline."""
        return thread(kind)

    @kit.tool
    def deep() -> int:
        """Recurse without end."""
        return 1 + deep()

    @kit.tool(inline=True)
    def deep_inline() -> int:
        """Recurse without end, inline."""
        return 1 + deep_inline()

    return kit


@asynccontextmanager
async def running(kit: Toolkit, **more: Any) -> AsyncIterator[Host]:
    async with make_host(kit, **more) as host:
        yield host


@pytest.mark.parametrize("mode", [*MODES, "later"])
@pytest.mark.parametrize("kind", OUTBURSTS)
async def test_whatever_a_tool_raises_loses_that_call_alone(
    kind: str, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(make_kit()) as host:
        outcome = await failure(host, f"x_{mode}", {"kind": kind})
        assert await value(host, f"x_{mode}", {"kind": "nothing"}) == "fine"
    assert type(outcome.error) is FatalToolError
    assert outcome.error.message == "It failed unexpectedly."
    assert outcome.error_id
    assert outcome.error_id in caplog.text
    assert kind in caplog.text or CANARY in caplog.text


@pytest.mark.parametrize("name", ["x_deep", "x_deep_inline"])
async def test_endless_recursion_loses_that_call_alone(name: str) -> None:
    async with running(make_kit()) as host:
        outcome = await failure(host, name)
        assert await value(host, "x_thread", {"kind": "nothing"}) == "fine"
    assert "RecursionError" in (getattr(outcome.error, "developer_message", "") or "")


async def test_many_outbursts_at_once_lose_their_own_calls_alone() -> None:
    async with running(make_kit(), threads=2) as host:
        calls = [(f"x_{mode}", kind) for mode in MODES for kind in (*OUTBURSTS, "nothing")]
        async with asyncio.timeout(WAIT):
            outcomes = await asyncio.gather(*(call(host, name, {"kind": kind}) for name, kind in calls))
    good = [isinstance(outcome, ToolResult) for outcome in outcomes]
    assert good == [kind == "nothing" for _, kind in calls]


class Speechless(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError(CANARY)


class SpeechlessRefusal(ToolExecutionError, Speechless):
    """The same, raised on purpose."""


@pytest.mark.parametrize(
    "error",
    [
        Speechless(),
        SpeechlessRefusal("no"),
        RetryableToolError("no", retry_after_ms="soon"),  # type: ignore[arg-type]
        RetryableToolError("no", additional_prompt_content=[CANARY]),  # type: ignore[arg-type]
    ],
    ids=["speechless", "speechless on purpose", "a time that is no number", "content that is no text"],
)
async def test_an_error_that_is_broken_itself_is_masked(error: Exception) -> None:
    kit = make_kit()

    @kit.tool
    def fail() -> str:
        """Fail."""
        raise error

    async with running(kit) as host:
        outcome = await failure(host, "x_fail")
        assert await value(host, "x_thread", {"kind": "nothing"}) == "fine"
    assert outcome.error.message == "It failed unexpectedly."
    assert outcome.error_id


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "error",
    [
        ToolExecutionError("refused"),
        RetryableToolError("too early", additional_prompt_content="Later.", retry_after_ms=5),
        FatalToolError("beyond repair"),
        UpstreamRateLimitError("slow down", 100),
        ProtocolError(-32602, "no such page", {"page": 3}),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_is_raised_on_purpose_reaches_the_caller_as_it_is(error: Exception, mode: str) -> None:
    kit = Toolkit("x")

    def sync() -> str:
        """Refuse."""
        raise error

    async def on_the_loop() -> str:
        """Refuse."""
        raise error

    kit.tool(name="go", inline=mode == "inline")(on_the_loop if mode == "async" else sync)
    async with running(kit) as host:
        outcome = await failure(host, "x_go")
    assert outcome.error is error
    assert outcome.error_id is None


async def test_a_context_error_of_a_tool_is_its_own_message() -> None:
    kit = Toolkit("x")

    @kit.tool
    def find() -> str:
        """Find nothing."""
        raise NotFoundError("no issue 7")

    async with running(kit) as host:
        outcome = await failure(host, "x_find")
    assert isinstance(outcome.error, ToolExecutionError)
    assert outcome.error.message == "no issue 7"


# --- where functions run


async def test_functions_run_where_they_should() -> None:
    kit = Toolkit("x")
    places: dict[str, int] = {}

    @kit.tool
    def thread() -> None:
        """Run in a thread."""
        places["thread"] = threading.get_ident()

    @kit.tool(inline=True)
    def inline() -> None:
        """Run on the loop."""
        places["inline"] = threading.get_ident()

    @kit.tool
    async def coroutine() -> None:
        """Run on the loop."""
        places["coroutine"] = threading.get_ident()

    async with running(kit) as host:
        for name in ("x_thread", "x_inline", "x_coroutine"):
            await value(host, name)
    here = threading.get_ident()
    assert places["thread"] != here
    assert (places["inline"], places["coroutine"]) == (here, here)


async def test_sync_tools_run_beside_each_other_and_leave_the_loop_free() -> None:
    kit = Toolkit("x")
    both = threading.Barrier(2)

    @kit.tool
    def meet() -> str:
        """Wait for another call."""
        both.wait(WAIT)
        return "met"

    @kit.tool
    async def quick() -> str:
        """Answer at once."""
        return "quick"

    async with running(kit) as host:
        first = asyncio.create_task(value(host, "x_meet"))
        while not both.n_waiting:
            assert await value(host, "x_quick") == "quick"
            await asyncio.sleep(0)
        assert await value(host, "x_meet") == "met"
        assert await first == "met"


async def test_no_more_threads_than_configured_run_at_once() -> None:
    kit = Toolkit("x")
    gate = threading.Event()
    running_now: list[int] = []
    most = 0

    @kit.tool
    def enter() -> None:
        """Count who is inside."""
        nonlocal most
        running_now.append(1)
        most = max(most, len(running_now))
        gate.wait(WAIT)
        running_now.pop()

    async with running(kit, threads=2) as host:
        calls = [asyncio.create_task(value(host, "x_enter")) for _ in range(6)]
        await until(lambda: host.busy_threads == 2)
        gate.set()
        await asyncio.gather(*calls)
    assert most == 2


async def test_a_host_without_sync_tools_has_no_threads() -> None:
    kit = Toolkit("x")

    @kit.tool
    async def coroutine() -> str:
        """Answer."""
        return "x"

    before = set(threading.enumerate())
    async with running(kit) as host:
        await value(host, "x_coroutine")
        new = set(threading.enumerate()) - before
    assert [thread.name for thread in new if thread.name.startswith("pegboard-tool")] == []


variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="nothing")


@pytest.mark.parametrize("mode", MODES)
async def test_context_variables_reach_the_function_and_do_not_leak_back(mode: str) -> None:
    kit = Toolkit("x")

    def sync() -> str:
        """Read and write a variable."""
        seen = variable.get()
        if mode == "thread":
            variable.set("changed by the tool")
        return seen

    async def on_the_loop() -> str:
        """Read a variable."""
        return variable.get()

    kit.tool(name="go", inline=mode == "inline")(on_the_loop if mode == "async" else sync)
    async with running(kit) as host:
        token = variable.set("of the caller")
        try:
            assert await value(host, "x_go") == "of the caller"
            assert variable.get() == "of the caller"
        finally:
            variable.reset(token)


@pytest.mark.parametrize("mode", MODES)
async def test_the_current_context_is_that_of_the_call(mode: str) -> None:
    kit = Toolkit("x")
    seen: list[Context | None] = []

    def sync(context: Context) -> None:
        """Look at the context."""
        assert current_context() is context
        seen.append(context)

    async def on_the_loop(context: Context) -> None:
        """Look at the context."""
        sync(context)
        await asyncio.sleep(0)
        sync(context)

    kit.tool(name="go", inline=mode == "inline")(on_the_loop if mode == "async" else sync)
    async with running(kit) as host:
        await asyncio.gather(value(host, "x_go"), value(host, "x_go"))
    assert len(set(map(id, seen))) == 2
    assert current_context() is None


# --- cancellation


@asynccontextmanager
async def cancelled(host: Host, name: str, begun: asyncio.Event | threading.Event) -> AsyncIterator[None]:
    """A call that is cancelled once it has begun."""
    task = asyncio.create_task(call(host, name))
    await until(begun.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    yield


async def test_cancelling_reaches_an_async_tool_and_its_finally_runs() -> None:
    kit = Toolkit("x")
    begun = asyncio.Event()
    story: list[Any] = []

    @kit.tool
    async def wait(context: Context) -> None:
        """Wait for ever."""
        try:
            begun.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            story.append("cancelled")
            await asyncio.sleep(0)
            raise
        finally:
            story.append("finally")

    @kit.tool
    async def next_one() -> str:
        """Answer."""
        return "fine"

    async with running(kit) as host, cancelled(host, "x_wait", begun):
        assert story == ["cancelled", "finally"]
        assert await value(host, "x_next_one") == "fine"


async def test_a_sync_tool_can_see_that_it_was_cancelled_and_its_thread_is_given_back() -> None:
    kit = Toolkit("x")
    begun, go_on = threading.Event(), threading.Event()
    seen: list[bool] = []

    @kit.tool
    def block(context: Context) -> None:
        """Block until let go."""
        begun.set()
        go_on.wait(WAIT)
        seen.append(context.cancelled)

    @kit.tool
    def next_one() -> str:
        """Answer."""
        return "fine"

    async with running(kit, threads=1) as host, cancelled(host, "x_block", begun):
        assert host.busy_threads == 1
        go_on.set()
        assert await value(host, "x_next_one") == "fine"
        assert host.busy_threads == 0
    assert seen == [True]


async def test_a_call_that_was_not_cancelled_is_not_marked_so() -> None:
    kit = Toolkit("x")
    contexts: list[Context] = []

    @kit.tool
    async def look(context: Context) -> bool:
        """Look."""
        contexts.append(context)
        return context.cancelled

    async with running(kit) as host:
        assert await value(host, "x_look") is False
    assert contexts[0].cancelled is False


async def test_a_tool_that_ends_its_own_task_group_is_no_cancellation() -> None:
    kit = Toolkit("x")

    @kit.tool
    async def race() -> str:
        """Cancel what it started itself."""
        task = asyncio.create_task(asyncio.Event().wait())
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "went on"
        return "never"

    @kit.tool
    async def fall() -> str:
        """Let the cancellation of its own task out."""
        task = asyncio.create_task(asyncio.Event().wait())
        await asyncio.sleep(0)
        task.cancel()
        await task
        return "never"

    async with running(kit) as host:
        assert await value(host, "x_race") == "went on"
        assert (await failure(host, "x_fall")).error.message == "It failed unexpectedly."


# --- progress


async def test_progress_from_a_thread_and_from_the_loop_reaches_the_client_in_order() -> None:
    kit = Toolkit("x")

    @kit.tool
    def sync(context: Context) -> str:
        """Report."""
        context.progress.report(1, total=2)
        context.progress.report(2, total=2, message="done")
        return "done"

    @kit.tool
    async def on_the_loop(context: Context) -> str:
        """Report, awaiting it."""
        await context.progress.report(1, total=2)
        await context.progress.report(2, total=2, message="done")
        return "done"

    async with running(kit) as host:
        for name in ("x_sync", "x_on_the_loop"):
            sent: list[tuple[str, dict[str, Any]]] = []
            await value(host, name, notify=lambda method, params, sent=sent: sent.append((method, params)))
            assert sent == [
                ("notifications/progress", {"progress": 1, "total": 2}),
                ("notifications/progress", {"progress": 2, "total": 2, "message": "done"}),
            ]


@pytest.mark.requirement("UTIL-12")
async def test_progress_after_the_end_of_a_call_goes_nowhere() -> None:
    kit = Toolkit("x")
    kept: list[Context] = []

    @kit.tool
    def keep(context: Context) -> None:
        """Keep the context."""
        kept.append(context)
        context.progress.report(1)

    sent: list[Any] = []
    async with running(kit) as host:
        await value(host, "x_keep", notify=lambda *message: sent.append(message))
        kept[0].progress.report(2)
    assert len(sent) == 1


# --- resources and prompts


async def test_a_resource_gives_text_or_bytes_with_its_type() -> None:
    kit = Toolkit("x")

    @kit.resource("x://text")
    def text() -> str:
        return "hello"

    @kit.resource("x://bytes")
    async def data() -> bytes:
        return b"\x00\xff"

    @kit.resource("x://typed", mime_type="text/markdown")
    def typed() -> str:
        return "# hello"

    async with running(kit) as host:
        results = [
            await host.dispatch(Call("resources/read", {"uri": f"x://{name}"})) for name in ("text", "bytes", "typed")
        ]
    assert results == [
        ResourceResult((ResourceContents("x://text", "hello", "text/plain"),)),
        ResourceResult((ResourceContents("x://bytes", b"\x00\xff", "application/octet-stream"),)),
        ResourceResult((ResourceContents("x://typed", "# hello", "text/markdown"),)),
    ]


async def test_a_prompt_gives_text_or_messages() -> None:
    kit = Toolkit("x")

    @kit.prompt
    def plain() -> str:
        """A question."""
        return "What is it?"

    @kit.prompt(description="A talk.")
    async def talk() -> list[PromptMessage]:
        return [PromptMessage("What?"), PromptMessage("That.", role="assistant")]

    async with running(kit) as host:
        results = [await host.dispatch(Call("prompts/get", {"name": name})) for name in ("x_plain", "x_talk")]
    assert results == [
        PromptResult((PromptMessage("What is it?"),), "A question."),
        PromptResult((PromptMessage("What?"), PromptMessage("That.", role="assistant")), "A talk."),
    ]


NO_TEXT: Any = 5
ODD: list[Any] = [{"a": object}, [ResourceContents("y", "text")], [ResourceContents("x:y", NO_TEXT)], object]


@pytest.mark.parametrize("given", ODD, ids=str)
async def test_content_of_a_wrong_kind_is_masked(given: Any) -> None:
    kit = Toolkit("x")

    @kit.resource("x://odd")
    def odd() -> Any:
        return given

    @kit.prompt(name="odd")
    def odd_prompt() -> Any:
        """An odd one."""
        return given

    async with running(kit) as host:
        for one in (Call("resources/read", {"uri": "x://odd"}), Call("prompts/get", {"name": "x_odd"})):
            outcome = await host.dispatch(one)
            assert isinstance(outcome, Failure)
            assert outcome.error.message in ("It failed unexpectedly.", "Internal error")
            assert outcome.error_id


async def test_no_future_is_left_open_and_no_coroutine_unawaited() -> None:
    async with running(make_kit()) as host:
        for kind in OUTBURSTS:
            await failure(host, "x_thread", {"kind": kind})
    gc.collect()
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_plain_wrapper_around_an_async_function_is_awaited() -> None:
    kit = Toolkit("x")

    async def inner() -> str:
        return "awaited"

    @kit.tool
    def wrapped() -> str:
        """Give what is still to be awaited."""
        return inner()  # type: ignore[return-value]

    @kit.tool(inline=True)
    def wrapped_inline() -> str:
        """Give what is still to be awaited, inline."""
        return inner()  # type: ignore[return-value]

    async with Host({"host": {"autoload": False}}, toolkits={"x": kit}) as host:
        for name in ("x_wrapped", "x_wrapped_inline"):
            assert await host.dispatch(Call("tools/call", {"name": name})) == ToolResult("awaited")


async def test_an_iterator_is_no_result() -> None:
    kit = Toolkit("x")

    @kit.tool
    def endless() -> list[int]:
        """Give something that has no end."""
        return itertools.count()  # type: ignore[return-value]

    async with Host({"host": {"autoload": False}}, toolkits={"x": kit}) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "x_endless"}))
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, ToolOutputError)


async def test_a_host_is_started_once() -> None:
    async with Host({"host": {"autoload": False}}) as host:
        with pytest.raises(ServerError):
            await host.start()
