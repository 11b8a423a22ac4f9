"""What blocks the event loop is found while it blocks: a tool lets go only once the log has named it."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.plugin import Method, Plugin, hookimpl
from pegboard.types import Call, CallNext, MethodResult, Outcome
from tests.host.hosting import WAIT, call, make_host, plugin_of, until, value

SHORT = 0.02


class Named(logging.Handler):
    """Keeps what the watchdog says; whoever blocks waits here, with the loop in its hands, until it has spoken.

    Attributes:
        said: what it said while somebody blocked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.spoke = threading.Event()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Let go."""
        self.said.append(record.getMessage())
        if "has blocked" in record.getMessage():
            self.spoke.set()

    def block(self) -> str:
        """Block until it is named."""
        return "named" if self.spoke.wait(WAIT) else "not named"


@pytest.fixture
def named() -> Iterator[Named]:
    """Listens to the watchdog."""
    handler, logger = Named(), logging.getLogger("pegboard.runtime.watchdog")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def blocking_kit(named: Named) -> Toolkit:
    kit = Toolkit("x")

    def deep() -> str:
        return named.block()

    @kit.tool
    async def on_the_loop() -> str:
        """Block the loop."""
        await asyncio.sleep(0)
        return deep()  # the line that blocks

    @kit.tool(inline=True)
    def inline() -> str:
        """Block the loop."""
        return deep()  # the line that blocks

    @kit.tool
    async def in_a_task() -> str:
        """Block the loop in a task of its own."""

        async def task_of_its_own() -> str:
            return deep()  # the line that blocks

        return await asyncio.create_task(task_of_its_own())

    @kit.resource("x://blocking")
    async def resource() -> str:
        return deep()  # the line that blocks

    @kit.tool
    async def waits() -> str:
        """Let the loop go."""
        await until(named.spoke.is_set)
        return "waited"

    @kit.tool
    async def fine() -> str:
        """Be fine."""
        return "fine"

    return kit


def host_of(named: Named, **more: Any) -> Host:
    return make_host(blocking_kit(named), **{"blocked_loop_seconds": SHORT, **more})


def line_of(said: str, function: str) -> str:
    """What stands in the line that the log names for a function."""
    place = re.search(rf"(\S+\.py):(\d+) in {function}\b", said)
    assert place is not None, said
    with open(place[1], encoding="utf-8") as file:
        return file.readlines()[int(place[2]) - 1]


@pytest.mark.parametrize("tool", ["on_the_loop", "inline"])
async def test_a_tool_that_blocks_is_named_with_file_and_line_while_it_blocks(tool: str, named: Named) -> None:
    async with host_of(named) as host:
        assert await value(host, f"x_{tool}") == "named"
        await until(lambda: len(named.said) == 2)
    first, last = named.said
    assert first.startswith(f"x_{tool} has blocked the event loop for 0.0 s, and all else waits: ")
    assert "the line that blocks" in line_of(first, tool)
    assert "return named.block()" in line_of(first, "deep")
    assert first.index("in wait,") < first.index("in deep,") < first.index(f"in {tool}")
    assert "/pegboard/" not in first
    assert re.fullmatch(rf"the event loop goes on; x_{tool} had blocked it for \d\.\d s", last)


async def test_a_task_that_a_tool_began_is_named_where_python_tells_whose_it_is(named: Named) -> None:
    async with host_of(named) as host:
        assert await value(host, "x_in_a_task") == "named"
    whose = "a task of x_in_a_task" if sys.version_info >= (3, 12) else "something outside of all calls"
    assert named.said[0].startswith(f"{whose} has blocked")
    assert "the line that blocks" in line_of(named.said[0], "task_of_its_own")


async def test_a_resource_that_blocks_is_named(named: Named) -> None:
    async with host_of(named) as host:
        await host.dispatch(Call("resources/read", {"uri": "x://blocking"}))
    assert named.said[0].startswith("x://blocking has blocked")


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
async def test_middleware_that_blocks_is_named(named: Named, late: bool) -> None:
    async def outer(call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    async def slow(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call) if late else None
        named.block()  # the line that blocks
        return outcome or await call_next(call)

    plugins = {"a": plugin_of(middleware=[outer]), "m": plugin_of(middleware=[slow])}
    async with make_host(blocking_kit(named), plugins=plugins, blocked_loop_seconds=SHORT) as host:
        assert await value(host, "x_fine") == "fine"
    assert named.said[0].startswith("the middleware 'm' of plugin 'm' (slow) has blocked")
    assert "the line that blocks" in line_of(named.said[0], "slow")


async def test_no_middleware_is_named_for_what_it_stands_around(named: Named) -> None:
    async def passing(call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    class Blocking(Plugin):
        @hookimpl
        def register_methods(self) -> Iterable[Method]:
            return [Method("acme/block", self.block)]

        async def block(self, call: Call) -> Outcome:
            named.block()
            return MethodResult()

    plugins = {"a": plugin_of(middleware=[passing]), "b": Blocking}
    async with make_host(plugins=plugins, blocked_loop_seconds=SHORT) as host:
        await host.dispatch(Call("acme/block"))
    assert named.said[0].startswith("what is around acme/block has blocked")


async def test_each_time_is_told_once(named: Named) -> None:
    async with host_of(named) as host:
        for number in (1, 2):
            named.spoke.clear()
            await value(host, "x_inline")
            await until(lambda expected=2 * number: len(named.said) == expected)  # type: ignore[misc]
    assert ["has blocked" in said for said in named.said] == [True, False, True, False]


async def test_the_thread_is_there_while_calls_are() -> None:
    named = Named()
    async with host_of(named) as host:
        watchdog = host._in_flight.watchdog
        assert not watchdog._listening
        task = asyncio.create_task(call(host, "x_waits"))
        await until(lambda: watchdog._listening)
        named.spoke.set()
        await task
        await until(lambda: not watchdog._listening)
        assert watchdog._beat is None
        assert await value(host, "x_fine") == "fine"
        await until(lambda: watchdog._listening)
    await until(lambda: not watchdog._listening)


async def test_it_keeps_nothing_of_the_call_that_woke_it(named: Named) -> None:
    class Something:
        """What a transport may keep in a variable of a call."""

    variable: ContextVar[Something] = ContextVar("variable")
    kept: list[weakref.ref[Something]] = []

    async def one() -> None:
        something = Something()
        kept.append(weakref.ref(something))
        variable.set(something)
        await value(host, "x_fine")

    async with host_of(named, blocked_loop_seconds=WAIT) as host:
        await asyncio.create_task(one())
        await asyncio.sleep(0)  # the loop lets go of the task
        gc.collect()
        assert host._in_flight.watchdog._beat is not None
        assert kept[0]() is None


async def test_it_can_be_switched_off() -> None:
    named = Named()
    async with host_of(named, blocked_loop_seconds=0) as host:
        named.spoke.set()
        assert await value(host, "x_inline") == "named"
        assert not host._in_flight.watchdog._listening
        assert host._in_flight.watchdog._beat is None


async def test_a_loop_that_waits_is_not_blocked(named: Named, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a sleep of the machine: no beat for long, and yet the loop is where it waits."""
    async with host_of(named, blocked_loop_seconds=0) as host:
        watchdog = host._in_flight.watchdog
        release = threading.Event()
        looked: list[str] = []

        def look() -> None:
            watchdog._thread = threading.main_thread().ident or 0
            # the loop waits for what `to_thread` gives, in its selector
            while not looked:
                frame = sys._current_frames()[watchdog._thread]
                if str(frame.f_globals.get("__name__")) == "selectors":
                    watchdog._look(9.0)
                    looked.append("in the selector")
            release.set()

        await asyncio.to_thread(look)
        assert looked
        assert named.said == []
