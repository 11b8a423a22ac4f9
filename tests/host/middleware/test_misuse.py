"""A middleware that breaks its contract loses its call and no other; the log names it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from pegboard import Completion, Context, PromptResult, ResourceResult, RetryableToolError, Toolkit, ToolResult
from pegboard.errors import ToolTimeoutError
from pegboard.middleware import time_limit
from pegboard.plugin import Middleware, around
from pegboard.types import Call, CallNext, Failure, Listing, Outcome
from tests.host.hosting import WAIT, Waiting, call, cancel, failure, kit_of, make_host, never, passing, plugin_of, value

Misuse = Callable[[Call, CallNext], Awaitable[Any]]


async def returns_nothing(call: Call, call_next: CallNext) -> None:
    await call_next(call)


async def returns_another_kind(call: Call, call_next: CallNext) -> Outcome:
    return PromptResult(())


async def calls_twice(call: Call, call_next: CallNext) -> Outcome:
    await call_next(call)
    return await call_next(call)


async def passes_no_call(call: Call, call_next: CallNext) -> Outcome:
    return await call_next(call.params)  # type: ignore[arg-type]  # that is the point of it


async def raises(call: Call, call_next: CallNext) -> Outcome:
    await call_next(call)
    raise KeyError("canary-7f3a91")


async def waits_for_what_was_cancelled(call: Call, call_next: CallNext) -> Outcome:
    task = asyncio.ensure_future(never())
    task.cancel()
    await task
    return await call_next(call)


MISUSES: dict[Misuse, str] = {
    returns_nothing: "returned NoneType for tools/call",
    returns_another_kind: "returned PromptResult for tools/call",
    calls_twice: "called call_next again",
    passes_no_call: "called call_next with dict",
    raises: "raised KeyError",
    waits_for_what_was_cancelled: "raised CancelledError",
}


class Calls:
    """A toolkit that counts the calls of its first tool; the second one never ends."""

    def __init__(self) -> None:
        self.count, self.waiting, self.kit = 0, Waiting(), kit_of(self.work)
        self.kit.tool(name="wait", description="x")(self.waiting)

    async def work(self, fail: bool = False) -> str:
        self.count += 1
        if fail:
            raise RetryableToolError("Again.")
        return "done"


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda function: function.__name__)
async def test_misuse_is_masked_and_named_and_costs_one_call(misuse: Misuse, caplog: pytest.LogCaptureFixture) -> None:
    calls = Calls()
    good: list[bool] = []

    class Sometimes(Middleware):
        def wants(self, call: Call) -> bool:
            return not good

        async def on_call_tool(self, call: Call, call_next: CallNext) -> Any:
            return await misuse(call, call_next)

    plugins = {"a_outer": plugin_of(middleware=[passing]), "clumsy": plugin_of(middleware=[Sometimes()])}
    async with make_host(calls.kit, plugins=plugins) as host:
        outcome = await failure(host, "work")
        assert calls.count <= 1
        good.append(True)
        assert await value(host, "work") == "done"
    assert outcome.error.message == "Internal error"
    assert outcome.error_id
    (line,) = errors(caplog)
    assert outcome.error_id in line
    assert "the middleware 'clumsy' of plugin 'clumsy' (Sometimes.on_call_tool)" in line
    assert MISUSES[misuse] in line
    assert "a_outer" not in line


OUTCOMES: dict[str, Outcome] = {
    "resources/read": ResourceResult(()),
    "prompts/get": PromptResult(()),
    "completion/complete": Completion(()),
    "tools/list": Listing("tools", ()),
}


@pytest.mark.parametrize("method", OUTCOMES)
async def test_each_method_has_its_own_kind_of_outcome(method: str) -> None:
    for outcome in (*OUTCOMES.values(), ToolResult("x")):

        async def responds(call: Call, call_next: CallNext, outcome: Outcome = outcome) -> Outcome:
            return outcome

        async with make_host(Toolkit("x"), plugins={"p": plugin_of(middleware=[around(method)(responds)])}) as host:
            result = await host.dispatch(Call(method))
        assert (result is outcome) is (type(outcome) is type(OUTCOMES[method]))


@pytest.mark.parametrize("hook", ["wants", "check"])
async def test_a_plain_method_that_raises_is_named(hook: str, caplog: pytest.LogCaptureFixture) -> None:
    class Unsure(Middleware):
        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            return await call_next(call)

    def fail(self: Middleware, call: Call) -> None:
        raise KeyError("canary-7f3a91")

    setattr(Unsure, hook, fail)
    async with make_host(Calls().kit, plugins={"unsure": plugin_of(middleware=[Unsure()])}) as host:
        assert (await failure(host, "work")).error.message == "Internal error"
    (line,) = errors(caplog)
    assert f"the middleware 'unsure' of plugin 'unsure' (Unsure.{hook}) raised KeyError" in line


async def test_a_check_refuses_a_wanted_request_in_its_place_and_no_notification() -> None:
    seen: list[str] = []

    class Checking(Middleware):
        def wants(self, call: Call) -> bool:
            return call.method != "tools/list"

        def check(self, call: Call) -> None:
            seen.append(call.method)
            if call.params.get("name") == "work":
                raise RetryableToolError("Later.")

        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            seen.append("around")
            return await call_next(call)

    async def outer(call: Call, call_next: CallNext) -> Outcome:
        seen.append(f"outer {call.method}")
        return await call_next(call)

    calls = Calls()
    plugins = {"a": plugin_of(middleware=[outer]), "b": plugin_of(middleware=[Checking()])}
    async with make_host(calls.kit, plugins=plugins) as host:
        assert (await failure(host, "work")).error.message == "Later."
        for method in ("tools/call", "tools/list", "notifications/initialized"):
            await host.dispatch(Call(method, {"name": "none"}))
    calling = "outer tools/call"
    expected = [calling, "tools/call", calling, "tools/call", "around", "outer tools/list"]
    assert seen == [*expected, "outer notifications/initialized"]
    assert calls.count == 0


async def test_results_of_middleware_must_fit_the_output_schema(caplog: pytest.LogCaptureFixture) -> None:
    async def responds(call: Call, call_next: CallNext) -> Outcome:
        return result

    async with make_host(kit_of(numbers), plugins={"p": plugin_of(middleware=[responds])}) as host:
        for result in (ToolResult({"a": [7]}, structured=True), ToolResult("no", is_error=True)):
            assert await call(host, "numbers") is result
        for result, reason in (  # noqa: B007 - the middleware returns it
            (ToolResult(7), "that is not structured for a tool with an output schema"),
            (ToolResult({"a": [1, "b"]}, structured=True), "output schema: a.1: must be an integer"),
            (ToolResult(object(), structured=True), "returned a ToolResult whose value is not JSON"),
        ):
            await failure(host, "numbers")
            assert reason in caplog.text


def numbers() -> dict[str, list[int]]:
    return {}


@pytest.mark.parametrize("failed", [None, Failure(RetryableToolError("no")), ToolResult("no", is_error=True)])
async def test_a_failed_call_may_be_repeated(failed: Outcome | None) -> None:
    calls = Calls()
    failures = [] if failed is None else [failed]

    async def repeats(call: Call, call_next: CallNext) -> Outcome:
        with suppress(RetryableToolError):
            outcome = await call_next(call)
            if isinstance(outcome, ToolResult) and not outcome.is_error:
                return outcome
        return await call_next(call._replace(params={"name": "work", "arguments": {}}))

    async def fails_once(call: Call, call_next: CallNext) -> Outcome:
        return failures.pop() if failures else await call_next(call)

    plugins = {"a": plugin_of(middleware=[repeats]), "b": plugin_of(middleware=[fails_once])}
    async with make_host(calls.kit, plugins=plugins) as host:
        assert await value(host, "work", {"fail": failed is None}) == "done"
    assert calls.count == (2 if failed is None else 1)


async def swallows(call: Call, call_next: CallNext) -> Outcome:
    try:
        return await call_next(call)
    except asyncio.CancelledError:
        return ToolResult("never mind")


async def tries_another(call: Call, call_next: CallNext) -> Outcome:
    try:
        return await call_next(call)
    except asyncio.CancelledError:
        return await call_next(call._replace(params={"name": "work"}))


@pytest.mark.parametrize("misuse", [swallows, tries_another])
async def test_a_cancelled_call_ends_even_if_middleware_goes_on(misuse: Any, caplog: pytest.LogCaptureFixture) -> None:
    calls = Calls()
    async with make_host(calls.kit, plugins={"stubborn": plugin_of(middleware=[misuse])}) as host:
        await cancel(call(host, "wait"), calls.waiting)
    (line,) = errors(caplog)
    assert f"the middleware 'stubborn' of plugin 'stubborn' ({misuse.__name__}) answered a cancelled call" in line


async def test_a_middleware_may_limit_the_time_of_a_call(caplog: pytest.LogCaptureFixture) -> None:
    async def limits(call: Call, call_next: CallNext) -> Outcome:
        try:
            async with asyncio.timeout(0):
                return await call_next(call)
        except TimeoutError:
            return ToolResult("too slow")

    async with make_host(Calls().kit, plugins={"m": plugin_of(middleware=[limits])}) as host:
        assert await value(host, "wait") == "too slow"
    assert errors(caplog) == []


async def hangs(call: Call, call_next: CallNext) -> Outcome:
    await never()
    return await call_next(call)


async def hangs_after_a_cancellation(call: Call, call_next: CallNext) -> Outcome:
    with suppress(asyncio.CancelledError):
        await never()
    return await hangs(call, call_next)


async def hangs_in_a_task(call: Call, call_next: CallNext) -> Outcome:
    return await asyncio.create_task(hangs(call, call_next))


@pytest.mark.parametrize(
    ("hanging", "method", "name"),
    [
        (hangs, "tools/list", ""),
        (hangs_after_a_cancellation, "tools/call", "work"),
        (hangs_in_a_task, "tools/call", "work"),
        (hangs, "tools/call", "outer"),
    ],
)
async def test_middleware_that_hangs_ends_with_the_time_limit_of_its_call(
    hanging: Misuse, method: str, name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_limit, "MIDDLEWARE_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(time_limit, "MAX_CLEANUP_SECONDS", 0.01)

    class Hanging(Middleware):
        def wants(self, call: Call) -> bool:
            return str(call.params["name"]) != "outer"

        async def on_request(self, call: Call, call_next: CallNext) -> Any:
            return await hanging(call, call_next)

    calls = Calls()

    @calls.kit.tool(timeout=WAIT, description="x")
    async def outer(context: Context) -> str:
        return str(await context.tools.call("work"))

    plugins = {"hanging": plugin_of(middleware=[Hanging()])}
    async with make_host(calls.kit, plugins=plugins, tool_timeout=0.02) as host, asyncio.timeout(WAIT):
        outcome = await host.dispatch(Call(method, {"name": name}))
        assert host._runtime.middleware.running == {}
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, ToolTimeoutError)
    (line,) = [record.getMessage() for record in caplog.records if "took longer" in record.getMessage()]
    assert "Hanging.on_request" in line
    assert method in line
