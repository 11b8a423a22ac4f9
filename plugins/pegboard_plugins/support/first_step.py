"""Coroutines that begin without a task of their own. Most requests end in their first step."""

from __future__ import annotations

from asyncio import current_task, sleep
from collections.abc import Awaitable, Coroutine, Generator
from contextvars import Context, copy_context
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def begin(work: Coroutine[Any, Any, T]) -> T | Awaitable[T]:
    """Run a coroutine until it ends or waits. Return its value, or an awaitable for its remaining steps.

    The first step may run outside any task. Before the coroutine waits, or uses a function that requires a task, it
    must await `in_task`.

    Raises:
        Exception: the coroutine raised the exception in its first step.
    """
    variables = copy_context()
    try:
        waits_for = variables.run(work.send, None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # the type of the value is unknown to mypy
    return _rest(work, waits_for, variables)


async def in_task() -> None:
    """Continue in the task that awaits the result of `begin`. Do nothing inside a task."""
    if current_task() is None:
        await sleep(0)


@coroutine
def _rest(work: Coroutine[Any, Any, T], waits_for: Any, variables: Context) -> Generator[Any, Any, T]:
    """Run a coroutine to its end, with the context variables of its first step."""
    sent = None
    skips = waits_for is None  # the first step ended in `in_task`, and this is a task
    while True:
        try:
            try:
                if not skips:
                    sent = yield waits_for
            except GeneratorExit:
                variables.run(work.close)
                raise
            except BaseException as error:  # noqa: BLE001 - the coroutine decides
                waits_for = variables.run(work.throw, error)
            else:
                skips = False
                waits_for = variables.run(work.send, sent)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # as above
