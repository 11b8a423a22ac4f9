"""What all contracts share: rules are tests, each on something fresh, sync or on an event loop of their own."""

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
"""How long a rule may take before it counts as broken."""
MAX_SETTLE_SECONDS = 0.2
"""How long what a rule began may go on after it."""
SETTLE_TURNS = 5
"""Of the event loop, before it is closed."""

T = TypeVar("T")
C = TypeVar("C", bound="Contract[Any]")


class Contract(ABC, Generic[T]):
    """Rules for one kind of thing: inherit, give `make`, and pytest runs them, whatever its plugins.

    Elsewhere `broken()` runs them and says which do not hold.
    """

    @abstractmethod
    def make(self) -> T | Awaitable[T]:
        """A fresh one; may be `async`."""

    def dispose(self, made: T) -> Awaitable[None] | None:
        """Take it away after a rule; may be `async`. Nothing by default."""
        return None

    @classmethod
    def rules(cls) -> tuple[str, ...]:
        """The names of the rules, those that a subclass adds included."""
        return tuple(name for name in dir(cls) if name.startswith("test_"))

    @classmethod
    def broken(cls) -> dict[str, BaseException]:
        """Run every rule; those that do not hold, with what each raised. A rule that does not apply holds."""
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
    """Make a test of an async method that takes what `make` gives: it runs on an event loop of its own."""

    @wraps(test)
    def run(self: C) -> None:
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            runner.run(_run(self, test))

    del run.__wrapped__  # pytest would take its parameters for fixtures
    return run


@contextmanager
def captured_output() -> Iterator[StringIO]:
    """All that is logged at any level, or printed, meanwhile."""
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
    """Let what still runs end, else end it, and what is closing close: nothing is left to warn about."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        _, tasks = await asyncio.wait(tasks, timeout=MAX_SETTLE_SECONDS)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _ in range(SETTLE_TURNS):
        await asyncio.sleep(0)
