"""The base of contracts. Rules are tests; each uses a new object, synchronously or on a new event loop."""

from __future__ import annotations

import asyncio
import inspect
import logging
import unittest
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import wraps
from io import StringIO
from typing import Any, Generic, TypeVar

MAX_RULE_SECONDS = 60.0
"""How long a rule may take before it fails."""
MAX_SETTLE_SECONDS = 0.2
"""How long tasks that a rule started may run after it."""
SETTLE_TURNS = 5
"""Turns of the event loop before it is closed."""

T = TypeVar("T")
C = TypeVar("C", bound="Contract[Any]")


class Contract(ABC, Generic[T]):
    """The rules of one kind of plugin. Inherit it and implement `make`. pytest then runs the rules.

    Without pytest, `broken()` runs the rules and returns those that fail.
    """

    @abstractmethod
    def make(self) -> T | Awaitable[T]:
        """Return a new object to check; may be `async`."""

    def dispose(self, made: T) -> Awaitable[None] | None:
        """Dispose of an object after a rule. This method may be `async`. By default, do nothing."""
        return None

    @classmethod
    def rules(cls) -> tuple[str, ...]:
        """Return the names of the rules, including those of subclasses."""
        return tuple(name for name in dir(cls) if name.startswith("test_"))

    @classmethod
    def broken(cls) -> dict[str, BaseException]:
        """Run every rule. Return those that failed, with their exceptions. A skipped rule holds."""
        found: dict[str, BaseException] = {}
        for name in cls.rules():
            try:
                getattr(cls(), name)()
            except unittest.SkipTest:
                continue
            except Exception as error:  # noqa: BLE001 - whatever is under test raises
                found[name] = error
        return found


def rule(test: Callable[[C, Any], Coroutine[Any, Any, None]]) -> Callable[[C], None]:
    """Make a test of an async method that receives the result of `make`. It runs on a new event loop."""

    @wraps(test)
    def run(self: C) -> None:
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            runner.run(_run(self, test))

    del run.__wrapped__  # pytest would use its parameters as fixtures
    return run


@contextmanager
def captured_output() -> Iterator[StringIO]:
    """Capture logs of all levels and printed output."""
    told = StringIO()
    handler, root = logging.StreamHandler(told), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(told), redirect_stderr(told):
            yield told
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


async def _run(contract: C, test: Callable[[C, Any], Coroutine[Any, Any, None]]) -> None:
    try:
        async with asyncio.timeout(MAX_RULE_SECONDS):
            made = contract.make()
            thing = await made if inspect.isawaitable(made) else made
            try:
                await test(contract, thing)
            finally:
                done = contract.dispose(thing)
                if inspect.isawaitable(done):
                    await done
    finally:
        await _settle()


async def _settle() -> None:
    """Wait for remaining tasks, cancel those that do not end, and let connections close."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        _, tasks = await asyncio.wait(tasks, timeout=MAX_SETTLE_SECONDS)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _ in range(SETTLE_TURNS):
        await asyncio.sleep(0)
