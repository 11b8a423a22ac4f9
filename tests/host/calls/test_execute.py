"""The way in which a function runs, its cancellation, and the results that it may return."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from pegboard import Context, ToolError, Toolkit, current_context
from tests.host.hosting import WAIT, call, kit_of, make_host, until, value

variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="nothing")


@pytest.mark.parametrize("mode", ["thread", "async", "inline"])
async def test_a_function_runs_in_its_place_with_its_context_and_variables(mode: str) -> None:
    seen: list[Context] = []

    def sync(context: Context) -> list[Any]:
        assert current_context() is context
        seen.append(context)
        facts = [variable.get(), threading.get_ident()]
        if mode == "thread":
            variable.set("changed by the tool")
        return facts

    async def on_the_loop(context: Context) -> list[Any]:
        await asyncio.sleep(0)
        return sync(context)

    kit = kit_of(on_the_loop if mode == "async" else sync, name="go", inline=mode == "inline")
    async with make_host(kit) as host:
        token = variable.set("of the caller")
        try:
            await value(host, "go")
            assert current_context() is None
            for facts in await asyncio.gather(value(host, "go"), value(host, "go")):
                assert (facts[0], facts[1] == threading.get_ident()) == ("of the caller", mode != "thread")
            assert variable.get() == "of the caller"
        finally:
            variable.reset(token)
    assert len(set(map(id, seen))) == 3
    assert not any(context.cancelled for context in seen)


class Callable_:  # noqa: N801
    """An object with an async call."""

    async def __call__(self) -> str:
        return "awaited"


@pytest.mark.parametrize("limit", [0, WAIT])
@pytest.mark.parametrize("inline", [False, True])
async def test_async_functions_objects_and_wrappers_are_awaited(inline: bool, limit: float) -> None:
    kit = Toolkit("x")

    async def inner() -> str:
        return "awaited"

    def wrapped() -> str:
        return inner()  # type: ignore[return-value]

    functions: list[Callable[..., Any]] = [inner, Callable_(), partial(inner), wrapped]
    for number, function in enumerate(functions):
        kit.tool(name=f"t{number}", description="x", inline=inline, timeout=None if inline else limit)(function)
    async with make_host(kit) as host:
        assert [await value(host, name) for name in sorted(host.assembly.tools)] == ["awaited"] * 4


async def test_a_cancelled_call_frees_the_variables_of_its_function() -> None:
    kept = list[weakref.ref[Any]]()

    async def wait() -> None:
        data = Callable_()
        kept.append(weakref.ref(data))
        await asyncio.get_running_loop().create_future()

    async with make_host(kit_of(wait)) as host:
        gc.disable()
        try:
            task = asyncio.create_task(call(host, "wait"))
            await until(lambda: bool(kept))
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            del task
            await asyncio.sleep(0)  # the event loop drops the task
            assert kept[0]() is None
        finally:
            gc.enable()


@pytest.mark.parametrize("error", [ValueError, ToolError])
@pytest.mark.parametrize("inline", [True, False])
async def test_a_failed_call_frees_the_variables_of_its_function(
    inline: bool, error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL + 1, "pegboard")  # pytest would keep a logged exception
    kept = list[weakref.ref[Any]]()

    def fail() -> None:
        data = Callable_()
        kept.append(weakref.ref(data))
        raise error("failed")

    async with make_host(kit_of(fail, inline=inline)) as host:
        gc.disable()
        try:
            await call(host, "fail")
            await until(lambda: kept[0]() is None)  # the thread may end later than the call
        finally:
            gc.enable()
