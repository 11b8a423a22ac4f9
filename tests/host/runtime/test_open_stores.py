"""The stores of a host: opened once, and closed with the host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest

from pegboard import Host, PluginConfig
from pegboard.plugin import ConfigError, Plugin, PluginError, Store, StoreName, hookimpl
from tests.host.hosting import make_host, until

Step = Callable[[], Awaitable[object]]


class Box:
    """A contract."""


class Settings(PluginConfig):
    box: Annotated[str | None, StoreName(Box)] = "offering"


class Using(Plugin):
    Config = Settings


async def nothing() -> None:
    """Neither wait nor fail."""


async def never() -> None:
    await asyncio.Event().wait()


def offering(story: list[str], opening: Step = nothing, closing: Step = nothing) -> type[Plugin]:
    """Return a plugin with a store and a lifespan, which record their events."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Box]:
        story.append("opening")
        await opening()
        yield Box()
        story.append("closing")
        await closing()

    class Offering(Plugin):
        @hookimpl
        def register_stores(self) -> list[Store]:
            return [Store(Box, opened)]

        @hookimpl
        @asynccontextmanager
        async def lifespan(self) -> AsyncIterator[None]:
            yield
            story.append("left")

    return Offering


def host_of(*args: Any, **more: Any) -> Host:
    return make_host(plugins={"using": Using, "offering": offering(*args, **more)})


async def test_a_store_is_opened_once_and_closed_before_the_lifespans_end() -> None:
    story: list[str] = []
    async with host_of(story) as host:
        boxes = await asyncio.gather(*(host.store(Box, "offering") for _ in range(3)))
        await host.open_stores()
        assert len({id(box) for box in boxes}) == 1
        with pytest.raises(PluginError, match="no setting selects a Box named 'unused'"):
            await host.store(Box, "unused")
    assert story == ["opening", "closing", "left"]


async def test_a_store_that_does_not_close_lets_lifespans_end() -> None:
    story: list[str] = []
    host = host_of(story, closing=never)
    await host.start()
    await host.store(Box, "offering")
    stopping = asyncio.create_task(host.stop())
    await until(lambda: "closing" in story)
    stopping.cancel()
    await asyncio.wait([stopping])
    assert story == ["opening", "closing", "left"]


async def test_a_store_that_does_not_open_lets_lifespans_end() -> None:
    story: list[str] = []
    host = host_of(story, opening=never)
    await host.start()
    opening = asyncio.create_task(host.store(Box, "offering"))
    await until(lambda: "opening" in story)
    await host.stop()
    assert story == ["opening", "left"]
    with pytest.raises(PluginError, match="cannot be opened"):
        await opening


OFFERING = offering([])


@pytest.mark.parametrize(
    ("plugins", "box", "hint"),
    [
        ({}, "ofering", False),
        ({"offering": OFFERING, "other": OFFERING}, "ofering", True),
    ],
)
async def test_a_setting_that_selects_no_store_stops_the_start(plugins: Any, box: str, hint: bool) -> None:
    with pytest.raises(ConfigError) as refused:
        await make_host(plugins={"using": Using, **plugins}, config={"plugins": {"using": {"box": box}}}).start()
    assert f"no running plugin offers a Box named '{box}'" in str(refused.value)
    assert ('did you mean "offering"?' in str(refused.value)) == hint
