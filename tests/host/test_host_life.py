"""A host from start to stop: lifespans, what keeps it from starting, calls in flight."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.plugin import ConfigError, Plugin, PluginError, ServerError, hookimpl
from pegboard.types import Call
from tests.host.hosting import call, make_host, plugin_of, until, value


class Story(list[str]):
    """What happened, in order."""

    def kit(
        self,
        name: str,
        *,
        enter: BaseException | None = None,
        leave: BaseException | None = None,
        while_entering: Callable[[], Any] | None = None,
    ) -> Toolkit:
        """A toolkit whose lifespan tells what happens to it, and may fail."""
        kit = Toolkit(name)

        @kit.lifespan
        async def live(config: None) -> AsyncIterator[str]:
            self.append(f"enter {name}")
            if while_entering is not None:
                await while_entering()
            if enter is not None:
                raise enter
            try:
                yield f"state of {name}"
            finally:
                self.append(f"leave {name}")
            if leave is not None:
                raise leave

        @kit.tool
        async def state(context: Context) -> str:
            """Say the state."""
            return str(context.state)

        return kit


# --- lifespans


async def test_lifespans_are_entered_in_the_order_of_names_and_left_in_reverse() -> None:
    story = Story()
    async with make_host(story.kit("b"), story.kit("c"), story.kit("a")) as host:
        assert story == ["enter a", "enter b", "enter c"]
        assert await value(host, "b_state") == "state of b"
    assert story[3:] == ["leave c", "leave b", "leave a"]


async def test_plugins_have_lifespans_too() -> None:
    story = Story()
    kit = story.kit("of_kit")

    class Living(Plugin):
        @hookimpl(specname="lifespan")
        def enter(self) -> Any:
            return kit._lifespan(None) if kit._lifespan else None

    async with make_host(plugins={"living": Living}):
        assert story == ["enter of_kit"]
    assert story == ["enter of_kit", "leave of_kit"]


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(3), ExceptionGroup("no", [ValueError()])], ids=lambda one: type(one).__name__
)
async def test_one_that_fails_to_end_does_not_hinder_the_others(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    story = Story()
    async with make_host(story.kit("a"), story.kit("b", leave=error), story.kit("c", leave=error)):
        pass
    assert story[3:] == ["leave c", "leave b", "leave a"]
    assert "the lifespan of toolkit 'b' failed to end" in caplog.text
    assert "the lifespan of toolkit 'c' failed to end" in caplog.text


async def test_one_that_lets_a_cancellation_out_when_it_ends_does_not_hinder_the_others() -> None:
    story = Story()
    host = make_host(story.kit("a"), story.kit("b", leave=asyncio.CancelledError()))
    await host.start()
    with contextlib.suppress(asyncio.CancelledError):
        await host.stop()
    assert story[2:] == ["leave b", "leave a"]


async def test_a_stop_that_is_cancelled_still_leaves_every_lifespan() -> None:
    story = Story()
    leaving = asyncio.Event()
    kit = Toolkit("b")

    @kit.lifespan
    async def live(config: None) -> AsyncIterator[None]:
        yield
        leaving.set()
        await asyncio.Event().wait()

    host = make_host(story.kit("a"), kit)
    await host.start()
    stopping = asyncio.create_task(host.stop())
    await leaving.wait()
    stopping.cancel()
    await asyncio.wait((stopping,))
    assert story == ["enter a", "leave a"]


async def test_an_error_inside_the_block_leaves_the_lifespans_and_passes_on() -> None:
    story = Story()
    with pytest.raises(KeyError):
        async with make_host(story.kit("a")):
            raise KeyError("of the program")
    assert story == ["enter a", "leave a"]


async def test_a_toolkit_whose_lifespan_fails_is_left_out_whole(caplog: pytest.LogCaptureFixture) -> None:
    story = Story()
    found = Toolkit("b")
    kit = story.kit("broken", enter=ConnectionError("no database"))
    plugin = plugin_of()

    class Module(Plugin):
        @hookimpl
        def register_tools(self) -> Any:
            return kit.register_tools()

        @hookimpl(specname="lifespan")
        def enter(self, context: Any) -> Any:
            return kit.enter_lifespan(context)

    host = make_host(story.kit("a"), found, plugins={"z": plugin, "broken": Module})
    with pytest.raises(PluginError, match=r"broken.*lifespan.*ConnectionError: no database"):
        await host.start()
    assert story == ["enter a", "enter broken", "leave a"]


async def test_what_keeps_the_host_from_starting_leaves_what_was_entered() -> None:
    story = Story()
    host = make_host(story.kit("a"), middleware=["not_there"])
    with pytest.raises(ConfigError):
        await host.start()
    assert story == ["enter a", "leave a"]


async def test_a_start_that_is_cancelled_leaves_what_was_entered() -> None:
    story = Story()
    entering = asyncio.Event()

    async def wait() -> None:
        entering.set()
        await asyncio.Event().wait()

    starting = asyncio.create_task(make_host(story.kit("a"), story.kit("b", while_entering=wait)).start())
    await entering.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert story == ["enter a", "enter b", "leave a"]


async def test_a_host_can_be_started_again_after_it_was_stopped() -> None:
    story = Story()
    kit = story.kit("a")

    @kit.tool
    def sync() -> str:
        """Run in a thread."""
        return "ran"

    host = make_host(kit)
    for _ in range(2):
        async with host:
            assert await value(host, "a_state") == "state of a"
            assert await value(host, "a_sync") == "ran"
    assert story == ["enter a", "leave a"] * 2


async def test_stopping_twice_is_stopping_once() -> None:
    story = Story()
    host = make_host(story.kit("a"))
    await host.start()
    await host.stop()
    await host.stop()
    assert story == ["enter a", "leave a"]


async def test_stopping_a_host_that_never_started_is_nothing() -> None:
    await make_host(Story().kit("a")).stop()


async def test_before_it_is_started_a_host_has_no_assembly() -> None:
    host = make_host()
    with pytest.raises(ServerError, match="has not been started"):
        host.assembly  # noqa: B018
    assert host.identity.name == "pegboard"
    assert host.problems == ()


async def test_loading_starts_nothing() -> None:
    story = Story()
    host = make_host(story.kit("a"))
    assert list(host.load().tools) == ["a_state"]
    assert story == []


async def test_no_tools_is_said_aloud(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host():
        pass
    assert "no tools are served" in caplog.text


# --- calls in flight


def waiting_kit() -> tuple[Toolkit, asyncio.Event, asyncio.Event]:
    kit = Toolkit("w")
    begun, go_on = asyncio.Event(), asyncio.Event()

    @kit.tool
    async def wait() -> str:
        """Wait."""
        begun.set()
        await go_on.wait()
        return "waited"

    return kit, begun, go_on


async def test_draining_waits_for_the_calls_in_flight() -> None:
    kit, begun, go_on = waiting_kit()
    async with make_host(kit) as host:
        assert await host.drain(0) is True
        one = asyncio.create_task(value(host, "w_wait"))
        await begun.wait()
        draining = asyncio.create_task(host.drain(60))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not draining.done()
        go_on.set()
        assert await draining is True
        assert await one == "waited"


async def test_draining_gives_up_after_the_grace() -> None:
    kit, begun, go_on = waiting_kit()
    async with make_host(kit) as host:
        one = asyncio.create_task(value(host, "w_wait"))
        await begun.wait()
        assert await host.drain(0.001) is False
        go_on.set()
        await one
        assert await host.drain(0) is True


async def test_a_call_that_fails_or_is_cancelled_is_in_flight_no_more() -> None:
    kit, begun, _ = waiting_kit()

    @kit.tool
    async def fail() -> None:
        """Fail."""
        raise KeyError

    async with make_host(kit) as host:
        await call(host, "w_fail")
        await call(host, "w_not_there")
        await host.dispatch(Call("no/such"))
        assert await host.drain(0) is True
        one = asyncio.create_task(value(host, "w_wait"))
        await begun.wait()
        one.cancel()
        await asyncio.wait((one,))
        assert await host.drain(0) is True


async def test_stopping_does_not_wait_for_a_thread_that_blocks() -> None:
    kit = Toolkit("w")
    go_on = threading.Event()

    @kit.tool
    def block() -> None:
        """Block."""
        go_on.wait(10)

    try:
        async with make_host(kit) as host:
            one = asyncio.create_task(call(host, "w_block"))
            await until(lambda: host.busy_threads == 1)
        assert host.busy_threads == 1
    finally:
        go_on.set()
        await one
    assert host.busy_threads == 0


# --- what is offered


async def test_a_host_offers_what_it_has_and_tools_always() -> None:
    kit = Toolkit("x")
    kit.resource("x://y")(lambda: "y")
    async with make_host(kit) as host, make_host() as empty:
        assert [host.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, True, False]
        assert [empty.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, False, False]


async def test_identity_is_that_of_the_configuration() -> None:
    given: dict[str, Any] = {
        "name": "n",
        "version": "2",
        "title": "t",
        "instructions": "i",
        "website_url": "https://example.com",
    }
    host: Host = make_host(**given)
    assert {name: getattr(host.identity, name) for name in given} == given


class Speechless(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [Speechless(), asyncio.CancelledError(), SystemExit(3)], ids=repr)
async def test_whatever_a_lifespan_raises_costs_its_toolkit_alone(error: BaseException) -> None:
    story = Story()
    broken: Any = type("Broken", (Plugin,), {"lifespan": hookimpl(lambda self, context: Refusing(error))})
    host = make_host(story.kit("a"), plugins={"broken": broken})
    with pytest.raises(PluginError, match=rf"broken.*lifespan.*{type(error).__name__}"):
        await host.start()  # it is named, so the host does not start without it, and says why
    assert story == ["enter a", "leave a"]


class Refusing:
    """A lifespan that cannot be entered."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def __aenter__(self) -> None:
        raise self.error

    async def __aexit__(self, *exception: object) -> None:
        raise AssertionError
