"""Coroutines that begin without a task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any

import pytest

from pegboard_plugins.support.first_step import begin, in_task

VARIABLE: ContextVar[str] = ContextVar("VARIABLE", default="")


async def outside(work: Any) -> Any:
    """Begin a coroutine outside any task."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lambda: future.set_result(begin(work)))
    return await future


async def test_a_coroutine_that_does_not_wait_ends_in_its_first_step() -> None:
    async def work() -> object:
        VARIABLE.set("set")
        return asyncio.current_task()

    assert await outside(work()) is None
    assert begin(work()) is asyncio.current_task()
    assert VARIABLE.get() == ""


async def test_a_coroutine_continues_in_the_task_that_awaits_the_rest() -> None:
    async def work() -> object:
        token = VARIABLE.set("set")
        await in_task()
        async with asyncio.timeout(60):
            await asyncio.sleep(0)
        VARIABLE.reset(token)
        return asyncio.current_task()

    rest = await outside(work())
    assert await rest is asyncio.current_task()


@pytest.mark.parametrize("first", [in_task, lambda: asyncio.sleep(60)], ids=["in_task", "waiting"])
async def test_the_rest_is_cancelled_with_its_task(first: Any) -> None:
    ended = []

    async def work() -> None:
        try:
            await first()
            await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            ended.append(error)
            raise

    async def wait(rest: Awaitable[None]) -> None:
        await rest

    task = asyncio.create_task(wait(await outside(work())))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(ended) == 1


async def test_the_rest_is_closed_with_the_coroutine_that_awaits_it() -> None:
    closed = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def wait(rest: Awaitable[None]) -> None:
        await rest

    waiting = wait(await outside(work()))
    waiting.send(None)
    waiting.close()
    assert closed
