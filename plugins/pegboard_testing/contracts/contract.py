"""The base of contracts. Rules are tests; each uses a new object, synchronously or on a new event loop."""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
import unittest
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager, contextmanager, redirect_stderr, redirect_stdout
from contextvars import copy_context
from functools import partial, wraps
from io import StringIO
from threading import Thread
from typing import Any, ClassVar, Generic, TypeVar

MAX_END_SECONDS = 0.75
"""How long a rule that reached its limit may dispose of its object and cancel its tasks."""
MAX_SETTLE_SECONDS = 0.2
"""How long tasks that a rule started may run after it."""
SETTLE_TURNS = 5
"""Turns of the event loop before it is closed."""

T = TypeVar("T")
C = TypeVar("C", bound="Contract[Any]")


class Contract(ABC, Generic[T]):
    """The rules of one kind of plugin. Inherit it and implement `make`. pytest then runs the rules.

    Without pytest, `broken()` runs the rules and returns those that fail.

    Attributes:
        max_rule_seconds: how long a rule may take, with `make` and `dispose`, before it fails.
    """

    max_rule_seconds: ClassVar[float] = 4.0

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
        failures: dict[str, BaseException] = {}
        for name in cls.rules():
            try:
                getattr(cls(), name)()
            except unittest.SkipTest:
                continue
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever is under test raises
                failures[name] = error
        return failures


def rule(test: Callable[[C, Any], Any]) -> Callable[[C], None]:
    """Make a test of a method that receives the result of `make`. An async method runs on a new event loop.

    The test fails if it takes longer than `max_rule_seconds`, even if the plugin blocks or ignores its cancellation.
    """
    run_once = _run_async if inspect.iscoroutinefunction(test) else _run

    @wraps(test)
    def run(self: C) -> None:
        with _restored_output():
            running = start_daemon(partial(run_once, self, test))
            wait([running], timeout=self.max_rule_seconds + MAX_END_SECONDS)
        if not running.done():
            raise AssertionError(_too_long(self))
        running.result()

    del run.__wrapped__  # pytest would use its parameters as fixtures
    return run


def start_daemon(function: Callable[[], T]) -> Future[T]:
    """Run a function in a thread that does not delay the end of the process. Return its future result."""
    ended: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            ended.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001 - raised again for the reader of the result
            ended.set_exception(error)

    Thread(target=run, daemon=True).start()
    return ended


@contextmanager
def captured_output() -> Iterator[StringIO]:
    """Capture logs of all levels and printed output."""
    output = StringIO()
    handler, root = logging.StreamHandler(output), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(output), redirect_stderr(output):
            yield output
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@asynccontextmanager
async def disposed_of(contract: Contract[T], made: T | Awaitable[T]) -> AsyncIterator[T]:
    """Await the result of `make`, and dispose of it at the end of the block."""
    thing: T = await made if inspect.isawaitable(made) else made
    try:
        yield thing
    finally:
        done = contract.dispose(thing)
        if inspect.isawaitable(done):
            await done


@contextmanager
def _restored_output() -> Iterator[None]:
    """Undo `captured_output` of a rule that did not end."""
    root = logging.getLogger()
    streams, handlers, level = (sys.stdout, sys.stderr), root.handlers[:], root.level
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        root.handlers[:] = handlers
        root.setLevel(level)


def _too_long(contract: Contract[Any]) -> str:
    return (
        f"the rule did not end within {contract.max_rule_seconds:g} seconds: a method of the plugin or of the contract "
        "hangs; if it is only slow, raise `max_rule_seconds`"
    )


def _run(contract: C, test: Callable[[C, Any], None]) -> None:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        made = runner.run(_result(contract.make()))
        try:
            test(contract, made)
        finally:
            runner.run(_result(contract.dispose(made)))


async def _result(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


def _run_async(contract: C, test: Callable[[C, Any], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(_limited(contract, test))


async def _limited(contract: C, test: Callable[[C, Any], Awaitable[None]]) -> None:
    limit = asyncio.timeout(contract.max_rule_seconds)
    try:
        async with limit, disposed_of(contract, contract.make()) as made:
            await test(contract, made)
    except TimeoutError as error:
        if limit.expired():
            raise AssertionError(_too_long(contract)) from error
        raise
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
