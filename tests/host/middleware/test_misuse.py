"""A middleware that does what it must not loses its call and no other; the log says whose it was."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest
from pydantic import BaseModel, Field

from pegboard import Completion, PromptResult, ResourceResult, RetryableToolError, Toolkit, ToolResult
from pegboard.middleware import time_limit as middleware_time
from pegboard.plugin import Method, Middleware, Plugin, ToolTimeoutError, around, hookimpl
from pegboard.types import FIRST_ROUND, Call, CallNext, Failure, InputRequired, Listing, MethodResult, Outcome
from tests.host.hosting import WAIT, call, failure, make_host, plugin_of, value

Misuse = Callable[[Call, CallNext], Awaitable[Any]]


async def gives_nothing(call: Call, call_next: CallNext) -> None:
    await call_next(call)


async def never_calls_on(call: Call, call_next: CallNext) -> None:
    """Forget `call_next`, and give nothing."""


async def gives_text(call: Call, call_next: CallNext) -> str:
    return "done"


async def gives_another_kind(call: Call, call_next: CallNext) -> Outcome:
    return PromptResult(())


async def calls_twice(call: Call, call_next: CallNext) -> Outcome:
    await call_next(call)
    return await call_next(call)


async def calls_twice_at_once(call: Call, call_next: CallNext) -> Outcome:
    return (await asyncio.gather(call_next(call), call_next(call)))[0]


async def passes_no_call(call: Call, call_next: CallNext) -> Outcome:
    return await call_next(call.params)  # type: ignore[arg-type]  # that is the point of it


async def raises(call: Call, call_next: CallNext) -> Outcome:
    raise KeyError("canary-7f3a91")


async def raises_late(call: Call, call_next: CallNext) -> Outcome:
    await call_next(call)
    raise KeyError("canary-7f3a91")


async def waits_for_what_was_cancelled(call: Call, call_next: CallNext) -> Outcome:
    task = asyncio.ensure_future(asyncio.Event().wait())
    task.cancel()
    await task
    return await call_next(call)


def is_plain(call: Call, call_next: CallNext) -> Any:
    return 5


MISUSES: dict[Misuse, str] = {
    gives_nothing: "returned NoneType for tools/call",
    never_calls_on: "returned NoneType for tools/call",
    gives_text: "returned str for tools/call",
    gives_another_kind: "returned PromptResult for tools/call",
    calls_twice: "called call_next again",
    calls_twice_at_once: "called call_next again",
    passes_no_call: "called call_next with dict",
    raises: "raised KeyError",
    raises_late: "raised KeyError",
    waits_for_what_was_cancelled: "raised CancelledError",
    is_plain: "raised TypeError",
}


class Calls:
    """A toolkit, and how often its tool ran."""

    def __init__(self) -> None:
        self.count = 0
        self.kit = Toolkit("x")
        self.kit.tool(self.work)

    async def work(self, fail: bool = False) -> str:
        """Work."""
        self.count += 1
        if fail:
            raise RetryableToolError("Again.")
        return "done"


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda one: one.__name__)
async def test_it_is_masked_and_named_and_costs_its_call_alone(
    misuse: Misuse, caplog: pytest.LogCaptureFixture
) -> None:
    calls = Calls()
    good: list[bool] = []

    class Sometimes(Middleware):
        def wants(self, call: Call) -> bool:
            return not good

        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            given: Outcome = await misuse(call, call_next)
            return given

    async with make_host(calls.kit, plugins={"clumsy": plugin_of(middleware=[Sometimes()])}) as host:
        outcome = await failure(host, "x_work")
        assert calls.count <= 1
        good.append(True)
        assert await value(host, "x_work") == "done"
    assert outcome.error.message == "Internal error"
    assert outcome.error_id
    (line,) = errors(caplog)
    assert outcome.error_id in line
    assert "the middleware 'clumsy' of plugin 'clumsy' (Sometimes.on_call_tool)" in line
    assert MISUSES[misuse] in line


GIVEN: dict[str, Outcome] = {
    "tools/call": ToolResult("x"),
    "resources/read": ResourceResult(()),
    "prompts/get": PromptResult(()),
    "completion/complete": Completion(()),
    "tools/list": Listing("tools", ()),
    "resources/list": Listing("resources", ()),
    "resources/templates/list": Listing("templates", ()),
    "prompts/list": Listing("prompts", ()),
}


@pytest.mark.parametrize("method", GIVEN)
async def test_each_method_has_outcomes_of_its_own(method: str, caplog: pytest.LogCaptureFixture) -> None:
    async def answer(call: Call, call_next: CallNext) -> Outcome:
        return giving[0]

    everywhere: list[Outcome] = [MethodResult(), Failure(RetryableToolError("no")), InputRequired({}, FIRST_ROUND)]
    async with make_host(Calls().kit, plugins={"m": plugin_of(middleware=[answer])}) as host:
        for one in [*GIVEN.values(), *everywhere]:
            giving = [one]
            outcome = await host.dispatch(Call(method))
            if one in everywhere or type(one) is type(GIVEN[method]):
                assert outcome is one
            else:
                assert isinstance(outcome, Failure)
                assert outcome.error.message == "Internal error"
                assert f"returned {type(one).__name__} for {method}" in caplog.text


async def test_results_of_middleware_must_fit_the_output_schema(caplog: pytest.LogCaptureFixture) -> None:
    async def caches(call: Call, call_next: CallNext) -> Outcome:
        return giving[0]

    kit = Toolkit("kit")

    @kit.tool
    def number() -> int:
        """Give a number."""
        return 1

    @kit.tool
    def numbers() -> dict[str, list[int]]:
        """Give numbers."""
        return {}

    @kit.tool
    def lists() -> list[list[int]]:
        """Give lists."""
        return []

    @kit.tool
    def text() -> str:
        """Give a text."""
        return ""

    kept = {"number": ToolResult(7, structured=True), "text": ToolResult(7), "numbers": ToolResult("no", is_error=True)}
    broken = {
        "number": (ToolResult(7), "that is not structured for a tool with an output schema"),
        "numbers": (ToolResult({"a": [1, "b"]}, structured=True), "output schema: a.1: must be an integer"),
        "lists": (ToolResult(object(), structured=True), "returned a ToolResult whose value is not JSON"),
    }
    async with make_host(kit, plugins={"p": plugin_of(middleware=[caches])}) as host:
        for name, result in kept.items():
            giving = [result]
            assert await call(host, f"kit_{name}") is result
        for name, (result, told) in broken.items():
            giving = [result]
            assert isinstance(await call(host, f"kit_{name}"), Failure)
            assert told in caplog.text


class Word(BaseModel, regex_engine="python-re"):
    text: str = Field(pattern="a(?=b)")


async def test_a_schema_that_only_pydantic_understands_is_not_held_against_middleware() -> None:
    async def changes(call: Call, call_next: CallNext) -> Outcome:
        return ToolResult({"text": 5}, structured=True)

    kit = Toolkit("kit")

    @kit.tool
    def word() -> Word:
        """Give a word."""
        return Word(text="ab")

    async with make_host(kit, plugins={"p": plugin_of(middleware=[changes])}) as host:
        assert await value(host, "kit_word") == {"text": 5}


async def test_no_other_middleware_is_blamed(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[BaseException] = []

    async def outside(call: Call, call_next: CallNext) -> Outcome:
        try:
            return await call_next(call)
        except Exception as error:
            seen.append(error)
            raise

    async def inside(call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    plugins = {"a": outside, "b": raises, "c": inside}
    given = {name: plugin_of(middleware=[around("tools/call")(one)]) for name, one in plugins.items()}
    async with make_host(Calls().kit, plugins=given) as host:
        await failure(host, "x_work")
    (line,) = errors(caplog)
    assert "the middleware 'b' of plugin 'b'" in line
    assert "'a'" not in line
    assert len(seen) == 1


async def test_no_middleware_is_blamed_for_what_it_stands_around(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Plugin):
        @hookimpl
        def register_methods(self) -> Iterable[Method]:
            return [Method("acme/break", self.break_down)]

        async def break_down(self, call: Call) -> Outcome:
            raise KeyError("canary-7f3a91")

    async def passing(call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    async with make_host(plugins={"a": plugin_of(middleware=[passing]), "b": Broken}) as host:
        outcome = await host.dispatch(Call("acme/break"))
    assert isinstance(outcome, Failure)
    (line,) = errors(caplog)
    assert "KeyError" in line
    assert "the middleware" not in line


async def test_wants_that_raises_is_named(caplog: pytest.LogCaptureFixture) -> None:
    class Unsure(Middleware):
        def wants(self, call: Call) -> bool:
            raise KeyError("canary-7f3a91")

        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            return await call_next(call)

    async with make_host(Calls().kit, plugins={"unsure": plugin_of(middleware=[Unsure()])}) as host:
        assert (await failure(host, "x_work")).error.message == "Internal error"
    (line,) = errors(caplog)
    assert "the middleware 'unsure' of plugin 'unsure' (Unsure.wants) raised KeyError" in line


# --- call_next again


async def test_a_failed_call_may_be_repeated() -> None:
    calls = Calls()

    async def again(call: Call, call_next: CallNext) -> Outcome:
        try:
            return await call_next(call)
        except RetryableToolError:
            return await call_next(call._replace(params={"name": "x_work", "arguments": {}}))

    async with make_host(calls.kit, plugins={"m": plugin_of(middleware=[again])}) as host:
        assert await value(host, "x_work", {"fail": True}) == "done"
    assert calls.count == 2


@pytest.mark.parametrize("given", [Failure(RetryableToolError("no")), ToolResult("no", is_error=True)], ids=["f", "t"])
async def test_a_failure_that_was_given_may_be_called_again(given: Outcome) -> None:
    tries: list[Outcome] = [given]

    async def again(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        return outcome if isinstance(outcome, ToolResult) and not outcome.is_error else await call_next(call)

    async def failing_once(call: Call, call_next: CallNext) -> Outcome:
        return tries.pop() if tries else await call_next(call)

    plugins = {"a": plugin_of(middleware=[again]), "b": plugin_of(middleware=[failing_once])}
    async with make_host(Calls().kit, plugins=plugins) as host:
        assert await value(host, "x_work") == "done"


async def test_the_first_of_several_that_ends_may_do_for_all() -> None:
    async def first(call: Call, call_next: CallNext) -> Outcome:
        tries: list[asyncio.Future[Outcome]] = [
            asyncio.ensure_future(one) for one in (call_next(call), waiting(call, call_next))
        ]
        done, rest = await asyncio.wait(tries, return_when=asyncio.FIRST_COMPLETED)
        for one in rest:
            one.cancel()
        return done.pop().result()

    async def waiting(call: Call, call_next: CallNext) -> Outcome:
        await asyncio.Event().wait()
        return await call_next(call)

    async with make_host(Calls().kit, plugins={"m": plugin_of(middleware=[first])}) as host:
        assert await value(host, "x_work") == "done"


# --- cancellation


class Waiting:
    """A tool that waits for ever."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.kit = Toolkit("x")
        self.kit.tool(self.work)
        self.kit.tool(name="other", description="Work.", inline=True)(lambda: "done")

    async def work(self) -> str:
        """Work."""
        self.begun.set()
        await asyncio.Event().wait()
        return "done"


async def swallows(call: Call, call_next: CallNext) -> Outcome:
    try:
        return await call_next(call)
    except asyncio.CancelledError:
        return ToolResult("never mind")


async def tries_another(call: Call, call_next: CallNext) -> Outcome:
    try:
        return await call_next(call)
    except asyncio.CancelledError:
        return await call_next(call._replace(params={"name": "x_other"}))


async def waits_by_itself(call: Call, call_next: CallNext) -> Outcome:
    if call.params["name"] == "x_work":
        try:
            STARTED.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return ToolResult("never mind")
    return await call_next(call)


STARTED = asyncio.Event()


@pytest.mark.parametrize("misuse", [swallows, tries_another, waits_by_itself])
async def test_a_cancelled_call_ends_whatever_the_middleware_makes_of_it(
    misuse: Any, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = Waiting()
    STARTED.clear()
    async with make_host(waiting.kit, plugins={"stubborn": plugin_of(middleware=[misuse])}) as host:
        task = asyncio.create_task(call(host, "x_work"))
        begun = [asyncio.create_task(event.wait()) for event in (waiting.begun, STARTED)]
        await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
        for one in begun:
            one.cancel()
        task.cancel()
        await asyncio.wait((task,))
    assert task.cancelled()
    (line,) = errors(caplog)
    assert f"the middleware 'stubborn' of plugin 'stubborn' ({misuse.__name__}) answered a cancelled call" in line


async def test_a_time_limit_of_a_middleware_is_no_misuse(caplog: pytest.LogCaptureFixture) -> None:
    waiting = Waiting()

    async def limited(call: Call, call_next: CallNext) -> Outcome:
        try:
            async with asyncio.timeout(0):
                return await call_next(call)
        except TimeoutError:
            return ToolResult("too slow")

    async with make_host(waiting.kit, plugins={"m": plugin_of(middleware=[limited])}) as host:
        assert await value(host, "x_work") == "too slow"
    assert errors(caplog) == []


async def hangs(call: Call, call_next: CallNext) -> Outcome:
    await asyncio.Event().wait()
    return await call_next(call)


async def hangs_behind(call: Call, call_next: CallNext) -> Outcome:
    outcome = await call_next(call)
    await asyncio.Event().wait()
    return outcome


async def hangs_on(call: Call, call_next: CallNext) -> Outcome:
    """Ignore the first cancellation."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    await asyncio.Event().wait()
    return await call_next(call)


async def hangs_in_a_task(call: Call, call_next: CallNext) -> Outcome:
    return await asyncio.create_task(hangs(call, call_next))


@pytest.mark.parametrize("hanging", [hangs, hangs_behind, hangs_on, hangs_in_a_task], ids=lambda f: f.__name__)
@pytest.mark.parametrize("method", ["tools/call", "tools/list"])
async def test_middleware_that_hangs_is_ended_with_the_limit_of_its_call(
    hanging: Misuse, method: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware_time, "MIDDLEWARE_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(middleware_time, "MAX_CLEANUP_SECONDS", 0.01)

    class Hanging(Middleware):
        async def on_call_tool(self, call: Call, call_next: CallNext) -> Any:
            return await hanging(call, call_next)

        async def on_list_tools(self, call: Call, call_next: CallNext) -> Any:
            return await hanging(call, call_next)

    hanging_plugin = {"hanging": plugin_of(middleware=[Hanging()])}
    async with make_host(Calls().kit, plugins=hanging_plugin, tool_timeout=0.02) as host, asyncio.timeout(WAIT):
        outcome = await host.dispatch(Call(method, {"name": "x_work"}))
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, ToolTimeoutError)
    (told,) = [record.getMessage() for record in caplog.records if "took longer" in record.getMessage()]
    assert "Hanging.on_" in told
    assert method in told
