"""Code that blocks the event loop is named while it blocks: here it goes on only after the log has named it."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pegboard
from pegboard import Host, Toolkit
from pegboard.plugin import ErrorAdapter
from pegboard.types import Call, CallNext, Outcome
from tests.host.hosting import WAIT, failure, kit_of, make_host, passing, plugin_of, until, value


class Named(logging.Handler):
    """Keeps the watchdog's messages. `block` blocks the loop until one has named the blocker."""

    def __init__(self) -> None:
        super().__init__()
        self.spoke = threading.Event()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())
        if "has blocked" in record.getMessage():
            self.spoke.set()

    def block(self) -> str:
        return "named" if self.spoke.wait(WAIT) else "not named"


@pytest.fixture
def named() -> Iterator[Named]:
    handler, logger = Named(), logging.getLogger("pegboard.runtime.watchdog")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def host_of(named: Named, **more: Any) -> Host:
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
    async def fine() -> str:
        """Be fine."""
        return "fine"

    return make_host(kit, **{"blocked_loop_seconds": 0.02, **more})


def line_of(message: str, function: str) -> str:
    """Return the line of source that the log names for a function."""
    place = re.search(rf"(\S+\.py):(\d+) in {function}\b", message)
    assert place is not None, message
    with open(place[1], encoding="utf-8") as file:
        return file.readlines()[int(place[2]) - 1]


@pytest.mark.parametrize("tool", ["on_the_loop", "inline"])
async def test_a_tool_that_blocks_is_named_with_its_place_each_time_once(tool: str, named: Named) -> None:
    async with host_of(named) as host:
        for number in (2, 4):
            named.spoke.clear()
            assert await value(host, f"x_{tool}") == "named"
            await until(lambda expected=number: len(named.said) == expected)  # type: ignore[misc]
    assert ["has blocked" in message for message in named.said] == [True, False, True, False]
    first, last = named.said[:2]
    assert re.match(rf"x_{tool} has blocked the event loop for \d\.\d s, and other calls wait: ", first)
    assert "the line that blocks" in line_of(first, tool)
    assert "return named.block()" in line_of(first, "deep")
    assert first.index("in wait,") < first.index("in deep,") < first.index(f"in {tool}")
    assert str(Path(pegboard.__file__).parent) not in first
    assert re.fullmatch(rf"the event loop continues; x_{tool} had blocked it for \d\.\d s", last)


async def test_a_tool_is_not_blamed_for_the_error_adapter_of_its_exception(named: Named) -> None:
    """An adapter may import the library of the exception, which takes long."""

    class Slow(ErrorAdapter):
        slug = "slow"

        def from_exception(self, error: Exception) -> None:
            named.block()

    async def fail() -> str:
        raise ValueError

    async with make_host(kit_of(fail, adapters=[Slow()]), blocked_loop_seconds=0.02) as host:
        await failure(host, "fail")
    assert named.said[0].startswith("the error adapter slow has blocked the event loop for ")


async def test_middleware_that_blocks_is_named_and_its_call_is_not_yet(named: Named) -> None:
    async def block(call: Call, call_next: CallNext) -> Outcome:
        named.block()
        return await call_next(call)

    plugins = {"a": plugin_of(middleware=[passing]), "b": plugin_of(middleware=[block])}
    async with make_host(Toolkit("x"), plugins=plugins, blocked_loop_seconds=0.02) as host:
        await host.dispatch(Call("tools/list"))
    assert named.said[0].startswith("the middleware 'b' of plugin 'b' (block) has blocked the event loop for ")


async def test_a_loop_that_waits_after_the_machine_slept_is_not_blocked(named: Named) -> None:
    async with host_of(named, blocked_loop_seconds=0) as host:
        watchdog = host._dispatcher.calls.watchdog
        looked: list[str] = []

        def look() -> None:
            watchdog._thread = threading.main_thread().ident or 0
            while not looked:  # the loop waits for `to_thread` in its selector
                frame = sys._current_frames()[watchdog._thread]
                if str(frame.f_globals.get("__name__")) == "selectors":
                    watchdog._look(9.0)
                    looked.append("in the selector")

        await asyncio.to_thread(look)
        assert looked
        assert named.said == []


def test_the_thread_ends_with_the_loop(named: Named) -> None:
    async def main() -> threading.Thread:
        host = host_of(named)
        await host.start()
        others = set(threading.enumerate())
        await value(host, "x_fine")
        # Python 3.11.2 crashes at its end if a thread has not begun, so the call began it
        (listener,) = set(threading.enumerate()) - others
        return listener

    listener = asyncio.run(main())
    listener.join(WAIT)
    assert not listener.is_alive()
