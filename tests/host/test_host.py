"""A host in a program: its life, its lifespans, calls in flight, and the process that it does not change."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from pegboard import Context, Host, Toolkit, tool
from pegboard.errors import ConfigError, PluginError, ServerError
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin import Lifespan, Plugin, hookimpl
from pegboard.plugin.origin import Origin
from pegboard.runtime.lifespans import Entered, LateLifespans
from pegboard.types import Call
from tests.host.hosting import Waiting, call, cancel, kit_of, make_host, nothing, until, value, work

Step = Callable[[], Awaitable[Any]]


def raising(error: BaseException) -> Step:
    async def step() -> None:
        raise error

    return step


class Story(list[str]):
    """The events of lifespans, in order."""

    def kit(self, name: str, *, enter: Step = nothing, leave: Step = nothing) -> Toolkit:
        """Return a toolkit whose lifespan records its events, and may wait or fail."""
        kit = Toolkit(name)

        @kit.lifespan
        async def live(config: None) -> AsyncIterator[str]:
            self.append(f"enter {name}")
            await enter()
            try:
                yield f"state of {name}"
            finally:
                self.append(f"leave {name}")
            await leave()

        @kit.tool
        def state(context: Context) -> str:
            """Return the state, from a thread."""
            return str(context.state)

        return kit


def living(kit: Toolkit) -> type[Plugin]:
    """Return a plugin with the lifespan of a toolkit."""

    class Living(Plugin):
        @hookimpl(specname="lifespan")
        def enter(self, context: Any) -> Lifespan:
            return kit.enter_lifespan(context)

    return Living


async def test_lifespans_are_entered_by_name_and_left_in_reverse_order_at_each_start() -> None:
    story = Story()
    host = make_host(story.kit("b"), story.kit("a"), plugins={"z": living(story.kit("p"))})
    await host.stop()
    with pytest.raises(ServerError, match="has not been started"):
        host.assembly  # noqa: B018
    assert (host.identity.name, host.problems) == ("pegboard", ())
    assert list(host.load().tools) == ["a_state", "b_state"]
    assert story == []
    for _ in range(2):
        story.clear()
        async with host:
            assert story == ["enter a", "enter b", "enter p"]
            assert await value(host, "b_state") == "state of b"
            with pytest.raises(ServerError, match="the host is started already"):
                await host.start()
        assert story[3:] == ["leave p", "leave b", "leave a"]
        await host.stop()
        assert len(story) == 6


async def test_a_start_uses_the_plugins_that_were_loaded_for_inspection() -> None:
    given: list[object] = []

    class Counted(Plugin):
        @hookimpl
        def register_tools(self) -> list[Any]:
            given.append(self)
            return [tool(work)]

    host = make_host(plugins={"counted": Counted})
    host.load()
    for starts in (1, 2):
        async with host:
            assert len(given) == starts
            assert await value(host, "work") == "done"


@pytest.mark.parametrize("error", [SystemExit(3), ExceptionGroup("no", [ValueError()]), asyncio.CancelledError()])
async def test_a_lifespan_that_fails_to_end_does_not_affect_the_others(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    story = Story()
    host = make_host(story.kit("a"), *(story.kit(name, leave=raising(error)) for name in "bc"))
    await host.start()
    with contextlib.suppress(asyncio.CancelledError):
        await host.stop()
    assert story[3:] == ["leave c", "leave b", "leave a"]
    how = "was cancelled while it ended" if isinstance(error, asyncio.CancelledError) else "failed to end"
    for name in "bc":
        assert f"the lifespan of toolkit '{name}' {how}" in caplog.text


async def test_a_lifespan_with_a_task_group_is_left_in_its_own_task(caplog: pytest.LogCaptureFixture) -> None:
    """A background task that fails cancels only its own lifespan."""
    broken = asyncio.Event()

    async def background() -> None:
        await broken.wait()
        raise OSError("no disk")

    def kit(name: str, *tasks: Callable[[], Coroutine[Any, Any, None]]) -> Toolkit:
        made = Toolkit(name)

        @made.lifespan
        async def live(config: None) -> AsyncIterator[None]:
            async with anyio.create_task_group() as group:
                for task in tasks:
                    group.start_soon(task)
                yield

        return made

    host = make_host(kit("a"), kit("b", background))
    await asyncio.create_task(host.start())
    broken.set()
    await until(lambda: "the lifespan of toolkit 'b' failed while the host ran" in caplog.text)
    assert "no disk" in caplog.text
    caplog.clear()
    await asyncio.create_task(host.stop())
    assert caplog.text == ""


async def test_a_start_that_fails_or_is_cancelled_leaves_what_was_entered() -> None:
    story, waiting = Story(), Waiting()
    await cancel(make_host(story.kit("a"), story.kit("b", enter=waiting)).start(), waiting)
    assert story == ["enter a", "enter b", "leave a"]
    story.clear()
    with pytest.raises(ConfigError):
        await make_host(story.kit("a"), middleware=["not_there"]).start()
    assert story == ["enter a", "leave a"]
    story.clear()
    with pytest.raises(KeyError):
        async with make_host(story.kit("a")):
            raise KeyError("of the program")
    assert story == ["enter a", "leave a"]


async def test_draining_waits_for_the_calls_in_flight_or_for_the_grace_period() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        begun.set()
        await go_on.wait()
        return "waited"

    async def fail() -> None:
        raise KeyError

    async with make_host(kit_of(wait, fail)) as host:
        await call(host, "fail")
        await call(host, "not_there")
        await host.dispatch(Call("no/such"))
        assert await host.drain(0) is True
        cancelled, waiting = (asyncio.create_task(value(host, "wait")) for _ in range(2))
        await begun.wait()
        cancelled.cancel()
        assert await asyncio.create_task(drain_in_a_cancelled_task(host)) is False
        draining = asyncio.create_task(host.drain(60))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not draining.done()
        go_on.set()
        assert await draining is True
        assert (await waiting, cancelled.cancelled()) == ("waited", True)


async def drain_in_a_cancelled_task(host: Host) -> bool:
    task = asyncio.current_task()
    assert task
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(0)
    return await host.drain(0.001)


async def test_stopping_does_not_wait_for_a_thread_that_blocks() -> None:
    go_on = threading.Event()

    def block() -> None:
        go_on.wait(10)

    try:
        async with make_host(kit_of(block)) as host:
            task = asyncio.create_task(call(host, "block"))
            await until(lambda: host.busy_threads == 1)
        assert host.busy_threads == 1
    finally:
        go_on.set()
        await task
    assert host.busy_threads == 0


def process_state() -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    return {
        "signals": {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)},
        "descriptors": [os.fstat(number).st_ino for number in (0, 1, 2)],
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.excepthook, sys.displayhook),
        "collector": (gc.isenabled(), gc.get_threshold()),
        "logging": (logging.getLogger().level, tuple(logging.getLogger().handlers)),
        "warnings": tuple(warnings.filters),
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "path": tuple(sys.path),
        "loop": (loop.get_exception_handler(), loop.get_debug()),
    }


async def test_the_process_stays_unchanged() -> None:
    before, frozen = process_state(), gc.get_freeze_count()
    kit = kit_of(lambda: "said", name="say")
    kit.resource("x://y")(lambda: "y")
    async with Host({"host": {"autoload": False}}, toolkits={"x": kit}) as host:
        await value(host, "say")
        assert process_state() == before
    assert process_state() == before
    assert gc.get_freeze_count() <= frozen  # objects that another test froze may be freed


@pytest.mark.parametrize("stops", ["before", "meanwhile"])
async def test_no_lifespan_outlives_a_host_that_stops(stops: str) -> None:
    entered: Entered = []
    late = LateLifespans(entered)
    steps: list[str] = []

    @asynccontextmanager
    async def life() -> AsyncIterator[None]:
        steps.append("entered")
        late.close()
        yield
        steps.append("left")

    context: Any = None
    plugin = LoadedPlugin(Origin("toolkit", "shop", "shop:kit"), None, lambda _: context)
    plugin.contributions["lifespan"] = [life()]
    if stops == "meanwhile":
        late.open()
    with pytest.raises(PluginError, match="toolkit 'shop' failed: the host has stopped"):
        await asyncio.to_thread(late.enter, plugin)
    assert (steps, entered) == (["entered", "left"] if stops == "meanwhile" else [], [])
